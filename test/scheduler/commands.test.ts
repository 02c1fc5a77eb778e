/** The commands of people on jobs and executions: exit codes, JSON shapes, and errors that help. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { Database } from "../../src/store/database.ts";
import { applyJob } from "../../src/store/job-change.ts";
import { type FreshDatabase, freshDatabase } from "../support/database.ts";
import { digestOf, hashed, testJob } from "../support/job.ts";
import { type FinishedProcess, runEscapement } from "../support/processes.ts";

let fresh: FreshDatabase;
beforeAll(async () => {
  fresh = await freshDatabase({ migrated: true });
  const db = new Database(fresh.url);
  for (const definition of [
    testJob("settlement", { schedule: { kind: "cron", cron: "0 * * * *" }, ...hashed(3) }),
    testJob("bonus", { period: { unit: "month", offset: 0 } }),
  ]) {
    await applyJob(db, definition, digestOf(definition), { person: "test", reason: "test" });
  }
  await db.end();
});
afterAll(() => fresh.drop());

function run(...args: string[]): Promise<FinishedProcess> {
  return runEscapement([...args, "--url", fresh.url]);
}
const reason = ["--reason", "asked for"];

test("an unknown job is named with the nearest one", async () => {
  const done = await run("run", "setlement", ...reason);
  expect(done.code).not.toBe(0);
  expect(done.stderr).toContain("did you mean settlement?");
});

test.each([
  [["run", "settlement"]],
  [["rerun", "settlement", "2026-07-01T00:00:00Z"]],
  [["cancel", "settlement", "2026-07-01T00:00:00Z"]],
  [["backfill", "settlement", "--from", "2026-07-01T00:00:00Z", "--to", "2026-07-02T00:00:00Z"]],
  [["jobs", "pause", "settlement"]],
])("without a reason nothing is done: %j", async (args) => {
  const done = await run(...args);
  expect(done.code).toBe(64);
  expect(done.stderr).toContain("--reason");
});

test.each(["yesterday", "2026-07-01", "2026-13-01T00:00:00Z", "2026-07-01T00:00:00", ""])(
  "the instant %j is a usage error that shows a right one",
  async (instant) => {
    const done = await run("run", "settlement", "--fire-time", instant, ...reason);
    expect(done.code).toBe(64);
    expect(done.stderr).toContain("2026-07-01T02:00:00Z");
  },
);

test("refusals exit with 4 and the reason; an unknown execution is told", async () => {
  const future = await run("run", "settlement", "--fire-time", "2999-01-01T00:00:00Z", ...reason);
  expect([future.code, future.stderr]).toEqual([4, expect.stringContaining("future")]);
  const first = await run("run", "bonus", "--period", "2026-07", ...reason);
  expect(first, first.stderr).toMatchObject({ code: 0 });
  const second = await run("run", "bonus", "--period", "2026-07", ...reason);
  expect([second.code, second.stderr]).toEqual([4, expect.stringContaining("2026-07")]);
  const malformed = await run("run", "bonus", "--period", "July", ...reason);
  expect(malformed.code).not.toBe(0);
  expect(malformed.stderr).toContain("--period");
  const unknown = await run("rerun", "settlement", "2026-07-01T00:00:00Z", ...reason);
  expect(unknown.code).not.toBe(0);
});

test("--json: one document each, with what a program needs", async () => {
  const json = async (...args: string[]) => {
    const done = await run(...args, "--json");
    return { code: done.code, data: JSON.parse(done.stdout) as Record<string, unknown> };
  };
  const started = await json("run", "settlement", ...reason);
  expect(started.data).toMatchObject({ job: "settlement", status: "planned", period: null });
  expect(started.data.fireTime).toMatch(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);
  const status = await json("status");
  expect(status).toMatchObject({
    code: 1,
    data: { leader: { alive: false }, executors: [], backlog: expect.anything() },
  });
  const fire = String(started.data.fireTime);
  for (const args of [
    ["executions", "--job", "settlement"],
    ["shards", "settlement", fire],
    ["jobs", "list"],
    ["store", "status"],
  ]) {
    const answer = await json(...args);
    expect(answer.code, args.join(" ")).toBe(0);
  }
  const again = await run("rerun", "settlement", fire, ...reason);
  expect([again.code, again.stderr]).toEqual([4, expect.stringContaining("planned")]);
  expect((await run("cancel", "settlement", fire, ...reason)).code).toBe(0);
  expect((await run("rerun", "settlement", fire, ...reason)).code).toBe(0);
});

test("a store that does not answer is 69, one that is not migrated 4, none named 64", async () => {
  const dead = await runEscapement(["status", "--url", "postgresql://postgres@127.0.0.1:1/none"]);
  expect([dead.code, dead.stderr]).toEqual([69, expect.stringContaining("does not answer")]);
  const empty = await freshDatabase({ migrated: false });
  const unmigrated = await runEscapement(["status", "--url", empty.url]);
  expect([unmigrated.code, unmigrated.stderr]).toEqual([4, expect.stringContaining("store migrate")]);
  await empty.drop();
  const none = await runEscapement(["status"], { environment: { ESCAPEMENT_STORE_URL: undefined } });
  expect(none.code).toBe(64);
});
