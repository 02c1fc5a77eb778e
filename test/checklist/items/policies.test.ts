/** Items 3, 4 and 5: the policies of jobs. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CheckContext } from "../../../src/checklist/context.ts";
import type { ChecklistItem, Result } from "../../../src/checklist/item.ts";
import { blockingPolicy } from "../../../src/checklist/items/03-blocking-policy.ts";
import { misfirePolicy, sectionOf } from "../../../src/checklist/items/04-misfire-policy.ts";
import { catchUpCaps } from "../../../src/checklist/items/05-catch-up-caps.ts";
import { idempotentWrites } from "../../../src/checklist/items/06-idempotent-writes.ts";
import type { JobDefinition } from "../../../src/spec/job-definition.ts";
import { Database } from "../../../src/store/database.ts";
import { type FreshDatabase, freshDatabase } from "../../support/database.ts";
import { contextOf, definitionsOf, fillStore, goodJobs } from "../good-cluster.ts";
import { type GoodFiles, goodFiles } from "../good-sources.ts";

let fresh: FreshDatabase;
let db: Database;
let files: GoodFiles;

beforeAll(async () => {
  files = goodFiles();
  fresh = await freshDatabase({ migrated: true });
  db = new Database(fresh.url, { maxConnections: 2 });
  await fillStore(db);
});

afterAll(async () => {
  files.remove();
  await db.end();
  await fresh.drop();
});

function context(change: (jobs: JobDefinition[]) => void = () => {}): CheckContext {
  const jobs = goodJobs();
  change(jobs);
  return contextOf(db, { definitions: definitionsOf(files.root, jobs) });
}

async function verdicts(
  item: ChecklistItem<CheckContext>,
  of: CheckContext,
): Promise<Record<string, string>> {
  return Object.fromEntries((await item.check(of)).map(({ scope, verdict }) => [scope.name, verdict]));
}

async function of(item: ChecklistItem<CheckContext>, scope: string, where: CheckContext): Promise<Result> {
  const found = (await item.check(where)).find((one) => one.scope.name === scope);
  expect(found, scope).toBeDefined();
  return found!;
}

/** Runs with rows changed, and changes them back. */
async function within<T>(sql: string, back: string, work: () => Promise<T>): Promise<T> {
  await db.query(sql);
  try {
    return await work();
  } finally {
    await db.query(back);
  }
}

const allPass = { payments: "pass", "pay/bonus": "pass", "pay/report": "pass", "pay/by-hand": "pass" };

describe("all three", () => {
  it.each([blockingPolicy, misfirePolicy, catchUpCaps])(
    "item $number passes, with evidence of both sides",
    async (item) => {
      expect(await verdicts(item, context())).toEqual(allPass);
      const one = await of(item, "pay/bonus", context());
      expect(new Set(one.evidence.map(({ kind }) => kind))).toContain("query");
      expect(one.evidence.some(({ kind }) => kind === "file")).toBe(true);
      expect(one.location).toEqual({ file: "jobs/bonus.yaml", line: 1 });
    },
  );

  it.each([
    [blockingPolicy, "blocking"],
    [misfirePolicy, "misfire"],
    [catchUpCaps, "catchUp"],
  ] as const)("only the item of a policy says that the file has another one (%#)", async (item, field) => {
    const other = {
      blocking: { policy: "allow" },
      misfire: { policy: "run-now", thresholdMs: 5 },
      catchUp: { maxFires: 1, keep: "newest" },
    };
    const changed = context((jobs) => Object.assign(jobs[0]!, { [field]: other[field] }));
    for (const one of [blockingPolicy, misfirePolicy, catchUpCaps])
      expect((await verdicts(one, changed))["pay/bonus"]).toBe(one === item ? "fail" : "pass");
    expect((await of(item, "pay/bonus", changed)).message).toMatch(new RegExp(`the store goes by ${field}`));
  });

  it.each([blockingPolicy, misfirePolicy, catchUpCaps])(
    "item $number is unknown without a store, without job files, and of a job that was not applied",
    async (item) => {
      const blind = contextOf("gone", { definitions: definitionsOf(files.root) });
      expect(Object.values(await verdicts(item, blind))).toContain("unknown");
      expect(Object.values(await verdicts(item, blind))).not.toContain("fail");
      const empty = contextOf(db, { definitions: definitionsOf(files.root, []) });
      expect(await verdicts(item, empty)).toMatchObject({ payments: "unknown" });
      const more = context((jobs) => jobs.push({ ...jobs[2]!, name: "new" }));
      expect(await verdicts(item, more)).toEqual({ ...allPass, "pay/new": "unknown" });
    },
  );

  it.each([
    [blockingPolicy, "spec.blocking"],
    [misfirePolicy, "spec.misfire.policy"],
    [catchUpCaps, "spec.catchUp"],
  ] as const)("a file in which the policy is missing fails (%#)", async (item, path) => {
    const problem = { file: "jobs/x.yaml", line: 3, column: 1, path, message: "is missing" };
    const here = { ...context(), definitions: { ...context().definitions, problems: [problem] } };
    for (const one of [blockingPolicy, misfirePolicy, catchUpCaps])
      expect((await verdicts(one, here))["jobs/x.yaml"]).toBe(one === item ? "fail" : undefined);
  });
});

describe("item 4", () => {
  it.each([
    ["names no page", undefined, "fail", /names no page/],
    ["names a page that is not there", "docs/none.md", "fail", /no page docs\/none\.md/],
    ["names a section that is not there", "docs/payments.md#nowhere", "fail", /no section #nowhere/],
    ["names a section about something else", "docs/payments.md#elsewhere", "fail", /does not name run-now/],
    ["names a page outside of the repository", "../secret.md", "fail", /no page/],
    ["names an address", "https://wiki.example/payments", "unknown", /outside of the repository/],
  ])("a job that %s: %s is %s", async (_, docs, verdict, message) => {
    const changed = context((jobs) => Object.assign(jobs[0]!, { docs }));
    expect(await of(misfirePolicy, "pay/bonus", changed)).toMatchObject({
      verdict,
      message: expect.stringMatching(message),
    });
  });

  it("finds a late fire that ran although the policy is skip", async () => {
    const found = await within(
      `UPDATE escapement.execution SET trigger_type = 'misfire' WHERE job_id = (SELECT job_id FROM escapement.job WHERE name = 'report')`,
      "UPDATE escapement.execution SET trigger_type = 'schedule'",
      () => of(misfirePolicy, "pay/report", context()),
    );
    expect(found).toMatchObject({ verdict: "fail", message: expect.stringMatching(/late fire\(s\) ran/) });
  });

  it("shows what would become of a gap, by the version in force", async () => {
    const { evidence } = await of(misfirePolicy, "pay/bonus", context());
    const trial = evidence.find(({ what }) => /asked about a gap/.test(what));
    expect(trial).toMatchObject({ kind: "computed", output: expect.stringMatching(/^run: .*\nmissed: /s) });
  });

  it("reads sections to the next heading of their rank", () => {
    const text = "# A\n## B c!\nx\n### D\ny\n## E\nz\n";
    expect(sectionOf(text, "b-c")).toBe("## B c!\nx\n### D\ny");
    expect(sectionOf(text, "f")).toBeUndefined();
  });
});

describe("a job file that cannot be read", () => {
  const broken = { file: "jobs/torn.yaml", line: 3, column: 1, path: "", message: "is no YAML" };

  it.each([blockingPolicy, misfirePolicy, catchUpCaps, idempotentWrites])(
    "item $number names it, beside other jobs and alone",
    async (item) => {
      for (const jobs of [goodJobs(), []]) {
        const definitions = { ...definitionsOf(files.root, jobs), problems: [broken] };
        const found = await item.check(contextOf(db, { definitions }));
        expect(found.find(({ scope }) => scope.name === "jobs/torn.yaml")).toMatchObject({
          verdict: "unknown",
          message: "jobs/torn.yaml is no readable job file: is no YAML",
          location: { file: "jobs/torn.yaml", line: 3 },
        });
        expect(found.map(({ message }) => message).join()).not.toMatch(/there is no job file/);
      }
    },
  );
});
