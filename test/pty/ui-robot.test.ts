/**
 * What people come for, done by a robot that sees nothing but the screen and does
 * nothing but press keys; against a real cluster of local processes.
 */
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { type ProcessCluster, startProcessCluster } from "../../src/lab/process-cluster.ts";
import { runEscapement } from "../support/processes.ts";
import { ownProgram, PtySession } from "../support/terminal.ts";
import { until } from "../support/until.ts";

const lease = { lease: "3s", renewEvery: "500ms", stopEarly: "500ms" };

const base = {
  timeZone: "UTC",
  misfire: { policy: "run-now", threshold: "1h" },
  catchUp: { maxFires: 5, keep: "oldest" },
  lease: "3s",
  timeout: "10m",
  resources: { class: "cpu", peakMemory: "8MiB" },
  effects: [{ kind: "message", target: "log", key: "shard", mode: "insert", sources: ["test/pty"] }],
  onStoreLoss: "kill",
};

// Each waits for what a person would wait for, on machines that may be slow.
vi.setConfig({ testTimeout: 240_000 });

let cluster: ProcessCluster;
let session: PtySession | undefined;
let flag: string;
let environment: Record<string, string>;

beforeAll(async () => {
  cluster = await startProcessCluster({
    schedulers: 1,
    executors: 1,
    scheduler: { ...lease, lookAhead: "6s" },
    executor: lease,
  });
  environment = { ESCAPEMENT_STORE_URL: cluster.storeUrl };
  flag = join(cluster.directory, "bank-2-answers");
  const jobs = [
    // Its third shard fails for as long as the flag is not there.
    job("settlement", {
      command: [
        "sh",
        "-c",
        `echo asking bank $ESCAPEMENT_SHARD_NO; test $ESCAPEMENT_SHARD_NO != 2 || test -e ${flag} || { echo bank 2 does not answer >&2; exit 7; }`,
      ],
      schedule: { manual: true },
      shards: { by: "hash", count: 4, key: "bank" },
      blocking: { policy: "allow" },
      retry: { maxAttempts: 3, delays: ["100ms"] },
    }),
    // Its first fire never ends, so that every other one is refused.
    job("nightly-report", {
      command: ["sleep", "600"],
      schedule: { cron: "*/2 * * * * *" },
      shards: { by: "none" },
      blocking: { policy: "forbid" },
      retry: { maxAttempts: 3, delays: ["100ms"] },
    }),
  ];
  const folder = join(cluster.directory, "jobs");
  mkdirSync(folder, { recursive: true });
  for (const one of jobs) writeFileSync(join(folder, `${one.metadata.name}.yaml`), JSON.stringify(one));
  const applied = await runEscapement(
    ["jobs", "apply", folder, "--cluster", cluster.clusterFile, "--reason", "test"],
    { environment },
  );
  expect(applied.code, applied.stderr + applied.stdout).toBe(0);
});
afterEach(async () => {
  await session?.dispose();
  session = undefined;
});
afterAll(() => cluster?.down());

function job(name: string, spec: Record<string, unknown>) {
  return { apiVersion: "escapement/v1", kind: "Job", metadata: { name }, spec: { ...base, ...spec } };
}

/** A person with a terminal of 110 × 34. */
function sitDown(...options: readonly string[]): PtySession {
  session = new PtySession({
    columns: 110,
    rows: 34,
    command: [process.execPath, ownProgram, "ui", "--cluster", cluster.clusterFile, ...options],
    environment,
  });
  return session;
}

test("finds the job that did not run, and why", async () => {
  const robot = sitDown();
  await robot.shows(/⊘ blocked +\d\d:\d\d +nightly-report/);
  robot.press("/", "nightly", "\r", "\r");
  const screen = await robot.shows(/nightly-report at .*Z[\s\S]*⊘ blocked/);
  expect(screen).toMatch(/why +\S.*/);
  const reason = /why +(\S.*?) +│/.exec(screen)![1]!;
  expect(reason).toMatch(/forbid|still|unfinished|earlier|running/i);
});

test("reruns a failed shard, once the cause is gone", async () => {
  rmSync(flag, { force: true });
  const run = await runEscapement(
    ["run", "settlement", "--wait", "--reason", "test", "--cluster", cluster.clusterFile],
    { environment },
  );
  expect(run.code).toBe(1);
  const robot = sitDown("--operator");
  await robot.shows(/✗ failed +\d\d:\d\d +settlement/);
  robot.press("/", "settlement", "\r", "\r");
  await robot.shows(/✗ failed 1 +✓ success 3/);
  // The failed one is first, with its attempt and the end of its log.
  await robot.shows(/▸ +2 +✗ failed[\s\S]*attempt 3 failed on executor-1[\s\S]*bank 2 does not answer/);
  writeFileSync(flag, "");
  robot.press("F");
  await robot.shows("rerun failed shards: settlement");
  robot.press("bank 2 is back\r");
  await robot.shows("type settlement");
  robot.press("settlement\r");
  await robot.shows(/✓ escapement rerun settlement .*done/);
  await robot.shows(/status +✓ success +run 2/);
  const { rows } = await cluster.store.query<{ reason: string; action: string }>(
    "SELECT action, reason FROM escapement.operation ORDER BY operation_id DESC LIMIT 1",
  );
  expect(rows[0]).toMatchObject({ reason: "bank 2 is back" });
});

test("pauses a job and resumes it", async () => {
  const robot = sitDown("--operator");
  await robot.shows(/of [\d,]+ due/);
  robot.press(":", "job nightly", "\r");
  await robot.shows(/state +active/);
  robot.press("P", "for the weekend\r", "nightly-report\r");
  await robot.shows(/state +. paused for the weekend/);
  robot.press("U", "it is Monday\r", "nightly-report\r");
  await robot.shows(/state +active/);
});

test("reads the evidence of an item of the checklist that does not pass", async () => {
  const robot = sitDown("--operator");
  await robot.shows(/of [\d,]+ due/);
  robot.press("5");
  await robot.shows(/has never run/);
  robot.press("R", "yes\r");
  await robot.shows(/Checklist: \d+ of \d+ pass/, 120_000);
  robot.press("/", "!pass", "\r", "\r");
  await robot.shows(/╭─ \d+\. [\s\S]*(✗ fail|\? unknown)[\s\S]*(query|computed|command|file|drill)/);
});

test("sees a drill that is on, and halts it", async () => {
  await cluster.store.query(
    `INSERT INTO escapement.drill_run (run_id, drill, class, digest, person, trigger_type, version, controller, lease_until, state, targets, fault_at)
     VALUES (gen_random_uuid(), 'cut-network', 'network-cut', 'x', 'ada', 'manual', '0.1.0', 'watch-1', clock_timestamp() + interval '1 hour', 'fault',
       '[{"host":"batch-02","node":"executor-2","part":"executor"}]', clock_timestamp())`,
  );
  const inventory = join(cluster.directory, "inventory.yaml");
  // Nobody answers there: the halt is in the store all the same.
  writeFileSync(
    inventory,
    `apiVersion: escapement/v1
kind: Inventory
metadata: { name: nowhere }
spec:
  hosts:
    - { name: batch-02, address: 127.0.0.1, port: 9 }
`,
  );
  const robot = sitDown("--operator", "-i", inventory);
  await robot.shows(/of [\d,]+ due/);
  robot.press("4");
  await robot.shows(/▸ cut-network[\s\S]*✓armed ▸ fault \d+s restoring/);
  robot.press("H", "customers call\r", "halt\r");
  await robot.shows(/escapement drill halt/);
  await until(
    async () =>
      (await cluster.store.query("SELECT 1 FROM escapement.drill_halt WHERE lifted_at IS NULL")).rows.length >
      0,
    { what: "the halt in the store" },
  ).catch((error: Error) => {
    throw new Error(`${error.message}; the screen was:\n${robot.text()}`);
  });
  await robot.shows(/⊘ halted by .*customers call/);
  // While it holds, no drill can be started from here.
  robot.press("R");
  await robot.shows(/not now, drills are halted by/);
});

test("sees fires that nobody has written down when no scheduler is left", async () => {
  const robot = sitDown();
  await robot.shows(/of [\d,]+ due/);
  for (const node of cluster.schedulers) await node.kill();
  await robot.shows(/nobody leads/, 60_000);
  await robot.shows(/! no record +\d\d:\d\d +nightly-report/, 60_000);
  expect(existsSync(cluster.clusterFile)).toBe(true);
});
