/** Recorded runs: the newest is the baseline of the next. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { latestChecklistRun, recordChecklistRun } from "../../../src/store/checklist/run.ts";
import { Database } from "../../../src/store/database.ts";
import { type FreshDatabase, freshDatabase } from "../../support/database.ts";

let fresh: FreshDatabase;
let db: Database;
beforeAll(async () => {
  fresh = await freshDatabase({ migrated: true });
  db = new Database(fresh.url, { maxConnections: 1 });
});
afterAll(async () => {
  await db.end();
  await fresh.drop();
});

const run = {
  person: "ada",
  version: "1.2.3",
  commitId: "a".repeat(40),
  definitionsDigest: "d".repeat(64),
  outcome: "fail" as const,
  items: [
    {
      number: 3,
      verdict: "fail" as const,
      message: "it is not written",
      open: [{ scope: { kind: "job" as const, name: "a/b" }, verdict: "fail" as const }],
      passed: 2,
    },
  ],
};

test("none, one, the newest; and twice the same is once", async () => {
  expect(await latestChecklistRun(db)).toBeNull();
  const first = randomUUID();
  await recordChecklistRun(db, { ...run, runId: first });
  await recordChecklistRun(db, { ...run, runId: first, outcome: "pass" });
  expect(await latestChecklistRun(db)).toMatchObject({
    runId: first,
    commitId: run.commitId,
    items: run.items,
    at: expect.any(Date),
  });
  const second = randomUUID();
  await recordChecklistRun(db, { ...run, runId: second, commitId: null, items: [] });
  expect(await latestChecklistRun(db)).toMatchObject({ runId: second, commitId: null, items: [] });
  const { rows } = await db.query("SELECT outcome FROM escapement.checklist_run ORDER BY at");
  expect(rows).toEqual([{ outcome: "fail" }, { outcome: "fail" }]);
});

test("a row that this version cannot read counts as none", async () => {
  await db.query("UPDATE escapement.checklist_run SET items = '[{\"later\": 1}]'");
  expect(await latestChecklistRun(db)).toBeNull();
});
