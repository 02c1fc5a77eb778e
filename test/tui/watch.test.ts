/** `escapement watch --once`: what it says, and how it ends, on a store in which something is wrong. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { digest } from "../../src/spec/digest.ts";
import { Database } from "../../src/store/database.ts";
import { type FreshDatabase, freshDatabase } from "../support/database.ts";
import { testJob } from "../support/job.ts";
import { runEscapement, startEscapement } from "../support/processes.ts";

let store: FreshDatabase;
let db: Database;

beforeEach(async () => {
  store = await freshDatabase({ migrated: true });
  db = new Database(store.url, { maxConnections: 1 });
  await db.query(
    "SELECT escapement.ensure_partitions(clock_timestamp() - interval '2 days', clock_timestamp() + interval '1 day')",
  );
  // Somebody leads, so that only what a test plants is wrong.
  await db.query(
    "UPDATE escapement.leader SET holder = gen_random_uuid(), node = 's-1', host = 'h', epoch = 1, acquired_at = clock_timestamp(), expires_at = clock_timestamp() + interval '1 hour'",
  );
});
afterEach(async () => {
  await db.end();
  await store.drop();
});

async function addJob(name: string, timeZone = "UTC"): Promise<void> {
  const definition = { ...testJob(name, { schedule: { kind: "cron", cron: "0 4 * * *" } }), timeZone };
  await db.query(
    `WITH made AS (INSERT INTO escapement.job (namespace, name, state, version, known_since, planned_until)
       VALUES ('default', $1, 'active', 1, clock_timestamp() - interval '1 day', clock_timestamp() + interval '1 day') RETURNING job_id)
     INSERT INTO escapement.job_version (job_id, version, digest, definition, effective_from, applied_by)
     SELECT job_id, 1, $2, $3, clock_timestamp() - interval '1 day', 'test' FROM made`,
    [name, digest(definition), definition],
  );
}

/** A fire of a second ago. */
async function addFire(job: string, status: string, reason: string): Promise<void> {
  await db.query(
    `INSERT INTO escapement.execution (job_id, fire_time, trigger_type, status, job_version, digest, shard_count, schedule_time, reason)
     SELECT job_id, greatest(date_trunc('day', clock_timestamp(), 'UTC'), date_trunc('milliseconds', clock_timestamp() - interval '1 second')), 'schedule', $2, 1, 'x', 1, clock_timestamp(), $3 FROM escapement.job WHERE name = $1`,
    [job, status, reason],
  );
}

const watch = (...options: readonly string[]) =>
  runEscapement(["watch", "--once", "--url", store.url, ...options], { environment: {} });

test("all well: 0; a reason of any characters: told, and nothing is made up from it", async () => {
  await addJob("good");
  expect((await watch()).code).toBe(0);
  await addJob("odd");
  await addFire("odd", "missed", "a\x1eb\x1fc \x1b[2Jd");
  const { code, stdout, stderr } = await watch("--json");
  expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
  const { trouble } = JSON.parse(stdout);
  expect(trouble).toMatchObject([{ job: "odd", status: "missed", reason: "a b c \x1b[2Jd" }]);
  expect(trouble[0].fireTime).toMatch(/^\d{4}-/);
});

test("a reason turns no line around and breaks none", async () => {
  await addJob("odd");
  await addFire("odd", "missed", "x\u202ey\u2028z");
  expect((await watch()).stdout).toMatch(/^\S+ {2}MISSED {2}odd at \S+: x y z$/m);
});

test("a job whose schedule cannot be read here: named, and the end is 5, not 0", async () => {
  await addJob("far", "Mars/Olympus");
  const { code, stdout } = await watch();
  expect(stdout).toMatch(/UNREADABLE {2}far: .*Mars\/Olympus/);
  expect(stdout).toContain("1 jobs whose schedule CANNOT BE READ here");
  expect(code).toBe(5);
  expect(JSON.parse((await watch("--json")).stdout).unreadable).toMatchObject([{ job: "far" }]);
});

test("a job that is deleted takes nothing with it that went wrong before", async () => {
  await addJob("gone");
  await addFire("gone", "failed", "exit code 1");
  await db.query("UPDATE escapement.job SET state = 'deleted', state_since = clock_timestamp()");
  const { code, stdout } = await watch("--json");
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({ jobs: 0, today: { failed: 1 }, trouble: [{ job: "gone" }] });
});

test("a store that goes away: told on standard error, and what a program reads stays JSON", async () => {
  const watching = await startEscapement(["watch", "--json", "--every", "1s", "--url", store.url]);
  await watching.seen(/"schemaVersion":1/);
  await store.drop();
  await watching.seen(/E_STORE_UNAVAILABLE/);
  expect(
    watching
      .stdout()
      .split("\n")
      .slice(0, -1)
      .map((one) => JSON.parse(one).schemaVersion),
  ).toContain(1);
  expect(JSON.parse(watching.stderr().split("\n")[0]!)).toMatchObject({
    error: { code: "E_STORE_UNAVAILABLE" },
  });
  watching.kill("SIGINT");
  expect((await watching.exited).code).toBe(130);
});

test("an alert that does not name its job is told with it", async () => {
  await addJob("paying");
  await db.query(
    `INSERT INTO escapement.alert_outbox (dedup_key, kind, severity, job_id, fire_time, message)
     SELECT 'x', 'shard-failed', 'critical', job_id, '2026-11-30T12:00:00Z', '1 shard(s) failed' FROM escapement.job`,
  );
  expect((await watch()).stdout).toContain(
    "ALERT critical  paying at 2026-11-30T12:00:00.000Z: 1 shard(s) failed",
  );
});

test.each(["soon", "-1s"])("--every %s: a mistake on the command line", async (every) => {
  const { code, stderr } = await watch("--every", every);
  expect({ code, stderr }).toMatchObject({ code: 64, stderr: expect.stringContaining("--every") });
});

test.each(["0s", "500ms", "30d"])("--every %s: the bounds, and not a look a millisecond", async (every) => {
  const { code, stderr } = await runEscapement(["watch", "--every", every, "--url", store.url], {
    environment: {},
  });
  expect(code).toBe(64);
  expect(stderr).toContain("1s to 1d");
});

test("a watchman that has stopped: named, and the alerts are as old as its last look", async () => {
  await addJob("good");
  await db.query(
    "INSERT INTO escapement.watchman (node, host, pid, version, started_at, last_pass_at, grace_until) SELECT 'w-1', 'h', 1, '1', t, t, t FROM (SELECT clock_timestamp() - interval '9 minutes' AS t) x",
  );
  const { code, stdout } = await watch();
  expect(stdout).toMatch(/watchman w-1 SILENT for 9m · 0 alerts as of 9m ago/);
  expect(code).toBe(0);
  await db.query("UPDATE escapement.watchman SET last_pass_at = clock_timestamp()");
  expect((await watch()).stdout).toMatch(/watchman w-1 looked \d+s ago · 0 alerts$/m);
});
