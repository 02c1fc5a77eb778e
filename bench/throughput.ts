/**
 * Fenced shard completions a second: the full life cycle, and drain against drain beside two peers.
 *
 * Full cycle: the leader's fenced planning statement inserts executions of 32
 * shards, they are opened, claimed in batches of 500 by two executors, and
 * completed with their fence tokens; the record is written. Drain: the shards
 * are there already, only claim and complete are timed, as the peers do with
 * their jobs. graphile-worker and pg-boss are measured when they are installed
 * (npm install --no-save graphile-worker@0.17.3 pg-boss@12.38.0). Same server,
 * same run, interleaved; medians of --runs. `--held-xmin` repeats the full cycle
 * beside a transaction that holds back vacuum.
 */
import { randomUUID } from "node:crypto";
import { startPostgres } from "../src/lab/postgres.ts";
import { claimShards } from "../src/store/claim.ts";
import { completeAttempts } from "../src/store/completion.ts";
import { Database } from "../src/store/database.ts";
import { registerExecutor } from "../src/store/executor.ts";
import { applyJob } from "../src/store/job-change.ts";
import { acquireLeadership } from "../src/store/leadership.ts";
import { migrate } from "../src/store/migrate.ts";
import { openDue } from "../src/store/opening.ts";
import { planningWork, readDefinitions, writePlan } from "../src/store/planning.ts";
import { benchJob } from "./bench-job.ts";
import { drainGraphileWorker, drainPgBoss } from "./peers.ts";

const shardsEach = 32;
const batch = 500;

const args = process.argv.slice(2);
const number = (flag: string, fallback: number) => {
  const at = args.indexOf(flag);
  return at < 0 ? fallback : Number(args[at + 1]);
};
const runs = number("--runs", 3);
const total = number("--shards", 100_000);

const server = await startPostgres({ settings: { shared_buffers: "256MB", max_wal_size: "4GB" } });
try {
  const results: Record<string, number[]> = {
    "full cycle": [],
    drain: [],
    "graphile-worker drain": [],
    "pg-boss drain": [],
  };
  if (args.includes("--held-xmin")) results["full cycle, held xmin"] = [];
  for (let run = 0; run < runs; run += 1) {
    results["full cycle"]!.push(await ours({ cycle: true }));
    results.drain!.push(await ours({ cycle: false }));
    push("graphile-worker drain", await drainGraphileWorker(await fresh("graphile"), total));
    push("pg-boss drain", await drainPgBoss(await fresh("boss"), total, batch));
    if (results["full cycle, held xmin"])
      results["full cycle, held xmin"].push(await ours({ cycle: true, heldXmin: true }));
  }
  print(results);

  function push(name: string, perSecond: number | null): void {
    if (perSecond !== null) results[name]!.push(perSecond);
  }
} finally {
  await server.remove();
}

async function fresh(prefix: string): Promise<string> {
  const name = `${prefix}_${randomUUID().slice(0, 8)}`;
  await server.createDatabase(name);
  return server.url.replace(/\/[^/]*$/, `/${name}`);
}

/** One run of ours. Returns shards completed a second. */
async function ours(options: { cycle: boolean; heldXmin?: boolean }): Promise<number> {
  const url = await fresh("ours");
  const leader = new Database(url, { maxConnections: 1 });
  const opener = new Database(url, { maxConnections: 1 });
  const workers = [0, 1].map(() => new Database(url, { maxConnections: 1 }));
  const holder = randomUUID();
  await migrate(leader);
  const deed = { person: "bench", reason: "bench" };
  for (let job = 0; job < 50; job += 1)
    await applyJob(leader, benchJob(`job-${job}`, shardsEach), `d${job}`, deed);
  const epoch = (await acquireLeadership(leader, { holder, node: "bench", host: "bench" }, 3_600_000))!;
  const incarnations = await Promise.all(
    workers.map(async (db, i) => {
      const incarnation = randomUUID();
      const identity = {
        incarnation,
        node: `x${i}`,
        host: "bench",
        bootId: "bench",
        pid: 1,
        processStart: "1",
        version: "bench",
      };
      await registerExecutor(db, identity, 3_600_000, { cpu: 1000, memory: 1, io: 1, control: 0 });
      return incarnation;
    }),
  );
  const work = await planningWork(leader, 3_600_000, 50);
  const definitions = await readDefinitions(leader, work.jobs);
  const executions = Math.ceil(total / shardsEach);
  const release = options.heldXmin ? await holdXmin(url) : async () => {};
  const cursor = work.jobs.map((job) => job.plannedUntil.getTime());
  let planned = 0;
  const produce = async (count: number) => {
    while (planned < count) {
      const jobs = work.jobs.slice(0, Math.min(50, count - planned)).map((job, i) => {
        const from = cursor[i]!;
        const fireTime = new Date(from + 1);
        cursor[i] = from + 1;
        return {
          jobId: job.jobId,
          version: 1,
          from: new Date(from),
          to: fireTime,
          fires: [
            {
              fireTime,
              status: "planned" as const,
              triggerType: "schedule" as const,
              reason: null,
              periodKey: null,
              chainAfter: null,
              definition: definitions.find((one) => one.jobId === job.jobId)!,
            },
          ],
        };
      });
      await writePlan(leader, holder, epoch, jobs);
      planned += jobs.length;
    }
  };
  let done = 0;
  const goal = executions * shardsEach;
  const drain = async (db: Database, incarnation: string) => {
    while (done < goal) {
      const claimed = await claimShards(db, {
        incarnation,
        class: "cpu",
        limit: batch,
        catchUp: false,
        catchUpShare: 0.5,
      });
      if (claimed.length === 0) {
        await new Promise((resolve) => setTimeout(resolve, 2));
        continue;
      }
      const ends = claimed.map((shard) => ({
        ...shard,
        outcome: "success" as const,
        delayMs: 0,
        rows: 1,
        exitCode: 0,
        error: null,
      }));
      const accepted = await completeAttempts(db, incarnation, ends);
      done += accepted.filter(Boolean).length;
    }
  };
  const openAll = async () => {
    while (done < goal) {
      const { opened } = await openDue(opener, { budgetMs: 50 });
      if (opened === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  if (!options.cycle) {
    await produce(executions);
    await openDue(opener, { budgetMs: 600_000 });
  }
  const started = performance.now();
  await Promise.all([
    ...(options.cycle ? [produce(executions), openAll()] : []),
    ...workers.map((db, i) => drain(db, incarnations[i]!)),
  ]);
  const seconds = (performance.now() - started) / 1000;
  await release();
  const { rows } = await leader.query<{ good: number }>(
    "SELECT count(*)::integer AS good FROM escapement.execution WHERE status = 'success'",
  );
  if (rows[0]?.good !== executions)
    throw new Error(`only ${rows[0]?.good} of ${executions} executions ended as success`);
  await Promise.all([leader, opener, ...workers].map((db) => db.end()));
  return goal / seconds;
}

/** A transaction that keeps its snapshot, so that vacuum can remove nothing that dies meanwhile. */
async function holdXmin(url: string): Promise<() => Promise<void>> {
  const db = new Database(url, { maxConnections: 1 });
  let letGo = () => {};
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const transaction = db.transaction(async (tx) => {
    await tx.query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ");
    await tx.query("SET LOCAL idle_in_transaction_session_timeout = 0");
    await tx.query("SELECT count(*) FROM escapement.job");
    await held;
  });
  return async () => {
    letGo();
    await transaction;
    await db.end();
  };
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function print(results: Record<string, number[]>): void {
  const ownDrain = median(results.drain!);
  const ownCycle = median(results["full cycle"]!);
  console.log(`${total} shards a run, ${runs} run(s), batch ${batch}, two claiming connections, fsync on`);
  for (const [name, values] of Object.entries(results)) {
    if (values.length === 0) {
      console.log(`${name.padEnd(24)} not installed`);
      continue;
    }
    const own = name.startsWith("full cycle") ? ownCycle : ownDrain;
    const ratio = `${(own / median(values)).toFixed(2)} × ours`.padStart(14);
    console.log(
      `${name.padEnd(24)} ${Math.round(median(values)).toString().padStart(7)} /s ${ratio}   (${values.map((v) => Math.round(v)).join(", ")})`,
    );
  }
}
