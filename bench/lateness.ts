/**
 * How late fires start: alone, ten thousand at once, with both schedulers dead, and after a part was killed.
 *
 * A cluster of real processes on this machine (two schedulers, three executors,
 * PostgreSQL), default leases. `npm run bench -- lateness [single|burst|headless|takeover|heal …]`;
 * without a name all of them.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sleep } from "../src/base/monotonic.ts";
import { type ProcessCluster, startProcessCluster } from "../src/lab/process-cluster.ts";
import type { JobDefinition } from "../src/spec/job-definition.ts";
import type { Database } from "../src/store/database.ts";
import { applyJob } from "../src/store/job-change.ts";
import { benchJob } from "./bench-job.ts";

const folder = mkdtempSync(join(tmpdir(), "escapement-bench-"));
const deed = { person: "bench", reason: "bench" };

const scenarios: Record<string, (cluster: ProcessCluster) => Promise<void>> = {
  single,
  burst,
  headless,
  takeover,
  heal,
};
const asked = process.argv.slice(2).filter((word) => !word.startsWith("-"));
try {
  for (const [name, run] of Object.entries(scenarios)) {
    if (asked.length > 0 && !asked.includes(name)) continue;
    const cluster = await startProcessCluster({ schedulers: 2, executors: 3 });
    try {
      await run(cluster);
    } finally {
      await cluster.down();
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** One job a second on an idle cluster; the child itself writes down when it started. */
async function single(cluster: ProcessCluster): Promise<void> {
  const file = join(folder, "single");
  await apply(cluster.store, everySecond("single", ["sh", "-c", `date +%s%N >> ${file}`]));
  await sleep(62_000);
  const lateMs = readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line) => (Number(BigInt(line) / 1_000n) / 1_000) % 1_000);
  report("single job, idle cluster: fire time → child started", lateMs.slice(2), "bar: p99 ≤ 50 ms");
}

/** Ten thousand jobs due at one instant, executors claiming meanwhile. */
async function burst(cluster: ProcessCluster): Promise<void> {
  const at = new Date(Math.ceil((Date.now() + 150_000) / 60_000) * 60_000);
  const cron = `${at.getUTCMinutes()} ${at.getUTCHours()} * * *`;
  for (let job = 0; job < 10_000; job += 1) {
    await applyJob(
      cluster.store,
      { ...benchJob(`burst-${job}`, 1), schedule: { kind: "cron", cron } },
      `d${job}`,
      deed,
    );
  }
  await sleep(Math.max(0, at.getTime() - Date.now()) + 5_000);
  const { rows } = await cluster.store.query<{ opened: number }>(
    "SELECT extract(epoch FROM opened_at - fire_time)::double precision * 1000 AS opened FROM escapement.execution WHERE opened_at IS NOT NULL",
  );
  report(
    `10,000 jobs due at once (${rows.length} opened): fire time → claimable`,
    rows.map((row) => row.opened),
    "bar: p99 ≤ 2 s",
  );
}

/** Both schedulers killed for 60 s: what was planned ahead starts all the same. */
async function headless(cluster: ProcessCluster): Promise<void> {
  for (let job = 0; job < 10; job += 1) await apply(cluster.store, everySecond(`headless-${job}`, ["true"]));
  await sleep(5_000);
  const killedAt = Date.now();
  for (const node of cluster.schedulers) await node.kill();
  await sleep(60_000);
  const until = Date.now();
  for (const node of cluster.schedulers) await node.start();
  await sleep(3_000);
  const { rows } = await cluster.store.query<{ late: number | null }>(
    `SELECT missed_seconds * 1000 AS late FROM escapement.execution WHERE fire_time > $1 AND fire_time < $2 AND revoked_at IS NULL`,
    [new Date(killedAt), new Date(until)],
  );
  const lost = rows.filter((row) => row.late === null).length;
  report(
    `both schedulers dead for 60 s (${rows.length} fires, ${lost} not started)`,
    rows.flatMap((row) => row.late ?? []),
    "bar: p99 ≤ 250 ms, none lost",
  );
}

/** Leader killed and leader frozen: until another one plans what is new. */
async function takeover(cluster: ProcessCluster): Promise<void> {
  for (const fault of ["SIGKILL", "SIGSTOP"] as const) {
    const before = await cluster.leader();
    const node = cluster.node(before!.node);
    const started = performance.now();
    node.signal(fault);
    // Only a leader that plans now can know this job.
    await apply(cluster.store, everySecond(`after-${fault.toLowerCase()}`, ["true"]));
    for (;;) {
      const { rows } = await cluster.store.query<{ planned: boolean }>(
        `SELECT EXISTS (SELECT 1 FROM escapement.execution e JOIN escapement.job j USING (job_id)
           WHERE j.name = $1 AND e.epoch > $2) AS planned`,
        [`after-${fault.toLowerCase()}`, before!.epoch],
      );
      if (rows[0]?.planned) break;
      await sleep(50);
    }
    console.log(
      `leader ${fault}: planning again after ${((performance.now() - started) / 1000).toFixed(1)} s (bar: ≤ 18 s)`,
    );
    if (fault === "SIGSTOP") node.thaw();
    else await node.restart();
    await sleep(2_000);
  }
}

/** An executor killed with running attempts: restarted on the same host, and not restarted. */
async function heal(cluster: ProcessCluster): Promise<void> {
  await apply(cluster.store, {
    ...everySecond("heal", ["sleep", "8"]),
    schedule: { kind: "every", everyMs: 5_000 },
  });
  for (const restart of [true, false]) {
    const victim = await busyExecutor(cluster);
    const node = cluster.node(victim.node);
    // All nodes of this lab share one host: for the others the victim must seem to be on another.
    if (!restart)
      await cluster.store.query(
        "UPDATE escapement.executor SET boot_id = 'elsewhere' WHERE incarnation = $1",
        [victim.incarnation],
      );
    const started = performance.now();
    await node.kill();
    if (restart) await node.start();
    for (;;) {
      const { rows } = await cluster.store.query<{ left: number }>(
        "SELECT count(*)::integer AS left FROM escapement.shard_live WHERE owner = $1 OR (owner IS NULL AND attempt > 0)",
        [victim.incarnation],
      );
      if (rows[0]?.left === 0) break;
      await sleep(50);
    }
    const bar = restart ? "≤ 3 s" : "≤ lease + 5 s = 20 s";
    console.log(
      `executor killed, ${restart ? "restarted on the host" : "not restarted"}: its shards run again after ${((performance.now() - started) / 1000).toFixed(1)} s (bar: ${bar})`,
    );
    if (!restart) await node.start();
  }
}

async function busyExecutor(cluster: ProcessCluster): Promise<{ node: string; incarnation: string }> {
  for (;;) {
    const { rows } = await cluster.store.query<{ node: string; incarnation: string }>(
      `SELECT x.node, x.incarnation FROM escapement.shard_live l JOIN escapement.executor x ON x.incarnation = l.owner
       WHERE l.start_time < clock_timestamp() - interval '1 s' LIMIT 1`,
    );
    if (rows[0]) return rows[0];
    await sleep(100);
  }
}

function everySecond(name: string, command: string[]): JobDefinition {
  return {
    ...benchJob(name, 1),
    command,
    schedule: { kind: "every", everyMs: 1_000 },
    misfire: { policy: "run-now", thresholdMs: 120_000 },
  };
}

async function apply(db: Database, definition: JobDefinition): Promise<void> {
  await applyJob(db, definition, definition.name, deed);
}

function report(title: string, valuesMs: readonly number[], bar: string): void {
  const sorted = [...valuesMs].sort((a, b) => a - b);
  const at = (share: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]?.toFixed(1) ?? "-";
  console.log(`${title}: p50 ${at(0.5)}, p99 ${at(0.99)}, max ${at(1)} ms (${sorted.length} values; ${bar})`);
}
