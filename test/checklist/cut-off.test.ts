/**
 * Every single source of evidence cut off in turn: each statement that an item
 * sends to the store, each command that it runs on a host, each file that it
 * reads. The list is no list: it is what the items ask when all is well, so a
 * new question is cut off as well. Whoever asked it must not pass.
 */
import { renameSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CheckContext, HostProbe } from "../../src/checklist/context.ts";
import type { Verdict } from "../../src/checklist/item.ts";
import { checklistItems } from "../../src/checklist/items/all.ts";
import type { Queryable } from "../../src/store/database.ts";
import { goodHosts, keyOf } from "./fake-host.ts";
import { contextOf, definitionsOf } from "./good-cluster.ts";
import { type WholeCluster, wholeCluster } from "./whole-cluster.ts";

let cluster: WholeCluster;

beforeAll(async () => {
  cluster = await wholeCluster();
});
afterAll(() => cluster?.end());

interface Asked {
  readonly items: Set<number>;
  /** Of a statement: whether it ever had a row to show. */
  rows: number;
}

type Answer = "cut" | "empty" | undefined;

/** What stands between an item and its sources. */
interface Wire {
  readonly item: number;
  /** Called with the name of the source, before it is asked. */
  answer(source: string): Answer;
  noted?(source: string, item: number, rows: number): void;
}

function store({ item, answer, noted }: Wire): Queryable {
  return {
    query: async (text: string, values?: unknown[]) => {
      const found = answer(text);
      if (found === "cut") throw new Error("permission denied");
      if (found === "empty") return { rows: [], rowCount: 0 };
      const result = await cluster.db.query(text, values);
      noted?.(text, item, result.rows.length);
      return result;
    },
  } as Queryable;
}

function hosts({ item, answer, noted }: Wire): HostProbe[] {
  return goodHosts().map((host) => ({
    ...host,
    exec: async (argv, { dialogue, ...how }) => {
      const source = `${host.name}: ${keyOf(argv)}`;
      const found = answer(source);
      if (found === "cut") throw new Error("no route to host");
      const isTold = dialogue !== undefined && found !== "empty";
      const said = await host.exec(argv, { ...how, ...(isTold && { dialogue }) });
      noted?.(source, item, 1);
      return found === "empty" ? { ...said, stdout: "" } : said;
    },
  }));
}

const rank: Readonly<Record<Verdict, number>> = { "not-applicable": 0, pass: 1, unknown: 2, fail: 3 };

/** @param numbers of items; one that does not ask a source cannot notice that it is gone */
async function verdicts(
  wire: Omit<Wire, "item">,
  numbers?: ReadonlySet<number>,
): Promise<Record<number, Verdict>> {
  const found: Record<number, Verdict> = {};
  for (const item of checklistItems) {
    if (numbers && !numbers.has(item.number)) continue;
    const own = { ...wire, item: item.number };
    const context: CheckContext = contextOf(store(own), {
      definitions: definitionsOf(cluster.files.root),
      hosts: hosts(own),
    });
    // An item that throws is unknown: run-items.ts.
    const results = await item.check(context).catch(() => []);
    const worst = results.map(({ verdict }) => verdict).sort((a, b) => rank[b] - rank[a])[0];
    found[item.number] = worst ?? "unknown";
  }
  return found;
}

/** Every source, with the items that ask it. */
async function sources(): Promise<ReadonlyMap<string, Asked>> {
  const found = new Map<string, Asked>();
  await verdicts({
    answer: () => undefined,
    noted: (source, item, rows) => {
      const asked = found.get(source) ?? { items: new Set(), rows: 0 };
      asked.items.add(item);
      asked.rows += rows;
      found.set(source, asked);
    },
  });
  return found;
}

/** Some sixty sources, each with the items that ask it: it only stops a hang. */
const sweepLimitMs = 300_000;

const allPass = Object.fromEntries(checklistItems.map(({ number }) => [number, "pass"]));
const short = (source: string) => source.replace(/\s+/g, " ").slice(0, 100);

describe("each source of evidence", () => {
  it("passes while all of them answer", async () => {
    expect(await verdicts({ answer: () => undefined })).toEqual(allPass);
  });

  it("is asked by an item, and every item has one", async () => {
    const all = await sources();
    const asking = new Set([...all.values()].flatMap(({ items }) => [...items]));
    expect(asking).toEqual(new Set(checklistItems.map(({ number }) => number)));
    // Fewer would mean that the spy has missed some: the sweeps below would be green for nothing.
    const statements = [...all.keys()].filter((source) => /^\s*(SELECT|WITH)/.test(source));
    expect(statements.length).toBeGreaterThanOrEqual(35);
    expect(all.size - statements.length).toBe(6 * 3 + 1);
  });

  it(
    "cut off: whoever asked it is unknown",
    async () => {
      const wrong: string[] = [];
      for (const [source, { items }] of await sources()) {
        const found = await verdicts({ answer: (asked) => (asked === source ? "cut" : undefined) }, items);
        for (const [number, verdict] of Object.entries(found))
          if (verdict !== "unknown") wrong.push(`item ${number} is ${verdict} without ${short(source)}`);
      }
      expect(wrong).toEqual([]);
    },
    sweepLimitMs,
  );

  it(
    "that answers nothing, where it had an answer: nobody who asked it passes",
    async () => {
      const passed: string[] = [];
      for (const [source, { items, rows }] of await sources()) {
        if (rows === 0) continue;
        const found = await verdicts({ answer: (asked) => (asked === source ? "empty" : undefined) }, items);
        for (const [number, verdict] of Object.entries(found))
          if (verdict === "pass") passed.push(`item ${number} without ${short(source)}`);
      }
      expect(passed.sort()).toEqual([
        // Without a success on record the timeout says how long catch-up may take, and that is still short enough.
        expect.stringMatching(/^item 5 without WITH zones AS/),
        // How many live only chooses the words about sessions that cannot be seen; here they can.
        expect.stringMatching(/^item 7 without SELECT \(SELECT count\(\*\) FROM escapement\.scheduler/),
      ]);
    },
    sweepLimitMs,
  );

  it.each([
    ["docs/payments.md", { 4: "fail" }],
    ["jobs/bonus.sql", { 6: "unknown" }],
    ["jobs/report.py", { 6: "unknown" }],
  ])("the file %s is not there", async (path, change) => {
    const file = join(cluster.files.root, path);
    renameSync(file, `${file}.away`);
    try {
      expect(await verdicts({ answer: () => undefined })).toEqual({ ...allPass, ...change });
    } finally {
      renameSync(`${file}.away`, file);
    }
  });
});
