/**
 * Every key that changes something, typed by a robot and gone to its end against a
 * real cluster of local processes: what it was to do is looked for in the store or
 * on disk. Keys that need hosts: test/hosts/ui.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { type ProcessCluster, startProcessCluster } from "../../src/lab/process-cluster.ts";
import { runEscapement } from "../support/processes.ts";
import { ownProgram, PtySession } from "../support/terminal.ts";
import { until } from "../support/until.ts";

const lease = { lease: "3s", renewEvery: "500ms", stopEarly: "500ms" };
vi.setConfig({ testTimeout: 240_000 });

let cluster: ProcessCluster;
let session: PtySession | undefined;

beforeAll(async () => {
  cluster = await startProcessCluster({
    schedulers: 1,
    executors: 1,
    scheduler: { ...lease, lookAhead: "6s" },
    executor: lease,
  });
  const file = join(cluster.directory, "monthly.json");
  const monthly = {
    apiVersion: "escapement/v1",
    kind: "Job",
    metadata: { name: "monthly" },
    spec: {
      command: ["true"],
      // Fired at every full hour, in the past as well: something to fill.
      schedule: { cron: "0 * * * *" },
      timeZone: "UTC",
      misfire: { policy: "skip", threshold: "1m" },
      blocking: { policy: "allow" },
      catchUp: { maxFires: 0, keep: "newest" },
      retry: { maxAttempts: 3, delays: ["100ms"] },
      shards: { by: "none" },
      lease: "3s",
      timeout: "1m",
      resources: { class: "cpu", peakMemory: "8MiB" },
      effects: [{ kind: "message", target: "log", key: "shard", mode: "insert", sources: ["test/pty"] }],
      onStoreLoss: "kill",
    },
  };
  writeFileSync(file, JSON.stringify(monthly));
  const applied = await runEscapement(
    ["jobs", "apply", file, "--cluster", cluster.clusterFile, "--reason", "test"],
    { environment: { ESCAPEMENT_STORE_URL: cluster.storeUrl } },
  );
  expect(applied.code, applied.stderr + applied.stdout).toBe(0);
});
afterEach(async () => {
  await session?.dispose();
  session = undefined;
});
afterAll(() => cluster?.down());

/** An operator at a terminal of 120 × 34, once all jobs are there. */
async function sitDown(): Promise<PtySession> {
  session = new PtySession({
    columns: 120,
    rows: 34,
    command: [process.execPath, ownProgram, "ui", "--cluster", cluster.clusterFile, "--operator"],
    environment: { ESCAPEMENT_STORE_URL: cluster.storeUrl },
  });
  await session.shows(/of [\d,]+ due, [\d,]+ to come/);
  return session;
}

async function onMonthly(): Promise<PtySession> {
  const robot = await sitDown();
  robot.press(":", "job monthly", "\r");
  await robot.shows(/state +active/);
  return robot;
}

/** Waits until the store answers the statement with a row. */
async function inStore(what: string, statement: string): Promise<Record<string, unknown>> {
  return until(async () => (await cluster.store.query(statement)).rows[0], {
    what,
    deadlineMs: 60_000,
  }).catch((error: Error) => {
    throw new Error(`${error.message}; the screen was:\n${session?.text()}`, { cause: error });
  });
}

test("R runs the job now, to its success", async () => {
  const robot = await onMonthly();
  robot.press("R", "the bank asks\r", "monthly\r");
  await robot.shows(/✓ escapement run monthly: done/, 60_000);
  const operation = await inStore(
    "the operation",
    "SELECT action, reason FROM escapement.operation ORDER BY operation_id DESC LIMIT 1",
  );
  expect(operation).toMatchObject({ reason: "the bank asks" });
  await inStore(
    "a success by hand",
    "SELECT 1 FROM escapement.execution WHERE trigger_type = 'manual' AND status = 'success'",
  );
  await robot.shows(/✓ success/);
});

test("B runs the fires of the past that were never run", async () => {
  const { rows } = await cluster.store.query<{ from: Date; to: Date }>(
    "SELECT date_trunc('hour', clock_timestamp()) - interval '3 hours' AS from, date_trunc('hour', clock_timestamp()) - interval '2 hours' AS to",
  );
  const { from, to } = rows[0]!;
  const robot = await onMonthly();
  robot.press("B", `${from.toISOString()}\r`, `${to.toISOString()}\r`, "they were lost\r", "monthly\r");
  await robot.shows(/✓ escapement backfill monthly: done/, 60_000);
  await inStore(
    "two fires of the past that succeeded",
    `SELECT 1 FROM escapement.execution WHERE fire_time BETWEEN '${from.toISOString()}' AND '${to.toISOString()}' AND status = 'success' HAVING count(*) = 2`,
  );
});

test("D drains the executor, U gives it work again", async () => {
  const robot = await sitDown();
  robot.press("3", "/", "executor-1", "\r");
  await robot.shows(/▸ executor-1 .*active/);
  robot.press("D", "a new kernel\r", "executor-1\r");
  await robot.shows(/⊘ drained/, 60_000);
  expect(await inStore("the drain", "SELECT node, reason FROM escapement.executor_drain")).toEqual({
    node: "executor-1",
    reason: "a new kernel",
  });
  await robot.shows(/✓ escapement drain executor-1: done/, 60_000);
  robot.press("D");
  await robot.shows("not now, it is drained already");
  robot.press("U", "it is back\r", "executor-1\r");
  await robot.shows(/✓ escapement undrain executor-1: done/, 60_000);
  await inStore("no drain", "SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM escapement.executor_drain)");
  await robot.shows(/▸ executor-1 .*✓ active/);
});

test("A acknowledges an alert, S silences it", async () => {
  await cluster.store.query(
    `INSERT INTO escapement.alert_outbox (dedup_key, kind, severity, message, job, opened_at)
     VALUES ('failed/monthly', 'failed', 'critical', 'monthly failed', 'monthly', clock_timestamp())`,
  );
  const robot = await sitDown();
  robot.press("6");
  await robot.shows(/▸ .*monthly failed/);
  robot.press("A", "ada looks at it\r", "yes\r");
  await robot.shows(/✓ escapement alerts ack.*done/, 60_000);
  await inStore(
    "the acknowledgement",
    "SELECT 1 FROM escapement.alert_outbox WHERE acknowledged_by IS NOT NULL",
  );
  await robot.shows("✓ seen");
  robot.press("A");
  await robot.shows("has acknowledged it");
  robot.press("S", "\r", "until the bank is back\r", "yes\r");
  await robot.shows(/✓ escapement alerts silence.*done/, 60_000);
  expect(await inStore("the silence", "SELECT reason FROM escapement.silence")).toEqual({
    reason: "until the bank is back",
  });
});

test("U lifts a halt of drills", async () => {
  await cluster.store.query(
    "INSERT INTO escapement.drill_halt (person, reason) VALUES ('ada', 'customers call')",
  );
  const robot = await sitDown();
  robot.press("4");
  await robot.shows(/halted by ada.*customers call/);
  robot.press("U", "they are calm\r", "resume\r");
  await robot.shows(/✓ escapement drill resume.*done/, 60_000);
  await inStore("the end of the halt", "SELECT 1 FROM escapement.drill_halt WHERE lifted_at IS NOT NULL");
});

test("E writes the procurement sheet", async () => {
  const folder = join(cluster.directory, "sheets");
  mkdirSync(folder, { recursive: true });
  const file = join(folder, "sheet.md");
  const robot = await sitDown();
  robot.press("7", "E", "\x15", `${file}\r`, "yes\r");
  await robot.shows(/✓ escapement capacity sheet.*done/, 60_000);
  expect(existsSync(file)).toBe(true);
  expect(readFileSync(file, "utf8")).toMatch(/\|.*\|/);
});

test("what a command refuses is said whole, and nothing has changed", async () => {
  const robot = await onMonthly();
  robot.press("B", "yesterday\r", "today\r", "a try\r", "monthly\r");
  await robot.shows(/✗ escapement backfill monthly/, 60_000);
  expect(robot.text()).toMatch(/open.*back/);
  const { rows } = await cluster.store.query("SELECT 1 FROM escapement.operation WHERE reason = 'a try'");
  expect(rows).toEqual([]);
});
