/** An item's trouble is its own answer, and nobody else's. */
import { expect, test } from "vitest";
import { runItems } from "../../src/checklist/run-items.ts";
import { answer, clusterScope, evidence, fakeItem } from "./fake-report.ts";

const base = { contextFor: (signal: AbortSignal) => signal, deadlineMs: 60_000, cluster: "pay" };

test("items run side by side, and are told in the order in which they end", async () => {
  const told: number[] = [];
  let open = () => {};
  const second = new Promise<void>((resolve) => {
    open = resolve;
  });
  const runs = await runItems({
    ...base,
    items: [
      fakeItem(1, async () => {
        await second;
        return [answer("pass")];
      }),
      fakeItem(2, async () => [answer("fail")]),
    ],
    onItem: ({ item }) => {
      told.push(item.number);
      // The first goes on only when the second has been told.
      if (item.number === 2) open();
    },
  });
  expect(runs.map(({ item }) => item.number)).toEqual([1, 2]);
  expect(told).toEqual([2, 1]);
});

const unknown = (message: RegExp) => [
  { scope: clusterScope, verdict: "unknown", evidence: [], message: expect.stringMatching(message) },
];

test.each<[string, () => Promise<never[]>, RegExp]>([
  [
    "throws at once",
    () => {
      throw new Error("no such table");
    },
    /could not be checked: no such table/,
  ],
  ["fails later", async () => Promise.reject(new Error("cut off")), /could not be checked: cut off/],
  [
    "throws a secret",
    async () => {
      throw new Error("postgres://u:hunter2@db/x is away");
    },
    /u:\*\*\*@db/,
  ],
  ["answers nothing", async () => [], /found nothing to judge/],
])("an item that %s is unknown, and the others keep their verdict", async (_, check, message) => {
  const runs = await runItems({
    ...base,
    items: [fakeItem(1, check), fakeItem(2, async () => [answer("pass")])],
  });
  expect(runs[0]!.results).toMatchObject(unknown(message));
  expect(runs[0]!.results[0]!.message).not.toContain("hunter2");
  expect(runs[1]!.results).toMatchObject([{ verdict: "pass" }]);
});

test("an item that gives no answer in time is unknown, and its signal fires", async () => {
  let signal: AbortSignal | undefined;
  const [run] = await runItems({
    ...base,
    deadlineMs: 20,
    items: [
      {
        ...fakeItem(1, () => new Promise(() => {})),
        check: (context) => {
          signal = context as AbortSignal;
          return new Promise(() => {});
        },
      },
    ],
  });
  expect(run!.results).toMatchObject(unknown(/no answer within 0\.02 s/));
  expect(signal?.aborted).toBe(true);
});

test("a run that is stopped leaves what is open unknown", async () => {
  const stop = new AbortController();
  const runs = await runItems({
    ...base,
    concurrency: 1,
    signal: stop.signal,
    items: [
      fakeItem(1, () => {
        stop.abort();
        return new Promise(() => {});
      }),
      fakeItem(2, async () => [answer("pass")]),
    ],
  });
  for (const run of runs) expect(run.results).toMatchObject(unknown(/the run was stopped/));
});

test("a pass without evidence is no pass", async () => {
  const [run] = await runItems({
    ...base,
    items: [
      fakeItem(1, async () => [answer("pass", { evidence: [] }), answer("not-applicable", { evidence: [] })]),
    ],
  });
  expect(run!.results.map(({ verdict }) => verdict)).toEqual(["unknown", "not-applicable"]);
});

test("evidence is cut and free of passwords", async () => {
  const long = evidence({
    output: `password=hunter2 ${"x".repeat(10_000)}`,
    what: "psql postgres://a:hunter2@h/d",
  });
  const [run] = await runItems({
    ...base,
    items: [fakeItem(1, async () => [answer("pass", { evidence: [long], message: "token=hunter2 is set" })])],
  });
  const [result] = run!.results;
  expect(JSON.stringify(result)).not.toContain("hunter2");
  expect(result!.evidence[0]!.output.length).toBeLessThanOrEqual(4_000);
  expect(result!.evidence[0]!.output).toMatch(/… \d+ more characters$/);
});
