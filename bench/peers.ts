/** Two well-known PostgreSQL job queues, drained at their own best settings; null when not installed. */
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** scripts/setup/bench-peers.mjs installs them here, apart from the project's own packages. */
const home = join(process.cwd(), "node_modules/.cache/escapement/peers/");

/** Loads a peer, or null when it is not installed. */
// biome-ignore lint/suspicious/noExplicitAny: optional peers without types here
async function load(name: string): Promise<any> {
  try {
    const path = createRequire(join(home, "package.json")).resolve(name);
    return await import(pathToFileURL(path).href);
  } catch {
    return null;
  }
}

/** graphile-worker with its local queue and batched completion. Returns jobs a second. */
export async function drainGraphileWorker(url: string, total: number): Promise<number | null> {
  const peer = await load("graphile-worker");
  if (!peer) return null;
  const logger = new peer.Logger(() => () => {});
  const shared = { connectionString: url, logger, noHandleSignals: true };
  const utils = await peer.makeWorkerUtils(shared);
  await utils.migrate();
  for (let done = 0; done < total; done += 10_000) {
    await utils.addJobs(
      Array.from({ length: Math.min(10_000, total - done) }, () => ({ identifier: "none", payload: {} })),
    );
  }
  await utils.release();
  let count = 0;
  let finish = () => {};
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const started = performance.now();
  const runner = await peer.run({
    ...shared,
    concurrency: 24,
    maxPoolSize: 10,
    pollInterval: 2_000,
    preset: {
      worker: {
        localQueue: { size: 500, refetchDelay: { durationMs: 10 } },
        completeJobBatchDelay: 0,
        failJobBatchDelay: 0,
      },
    },
    taskList: {
      none: () => {
        count += 1;
        if (count === total) finish();
      },
    },
  });
  await finished;
  await runner.stop();
  return total / ((performance.now() - started) / 1000);
}

/** pg-boss, fetch and complete in batches on two loops. Returns jobs a second. */
export async function drainPgBoss(url: string, total: number, batch: number): Promise<number | null> {
  const peer = await load("pg-boss");
  if (!peer) return null;
  const boss = new (peer.PgBoss ?? peer.default)({
    connectionString: url,
    max: 4,
    supervise: false,
    schedule: false,
  });
  boss.on("error", () => {});
  await boss.start();
  await boss.createQueue("bench");
  for (let done = 0; done < total; done += 10_000) {
    await boss.insert(
      "bench",
      Array.from({ length: Math.min(10_000, total - done) }, () => ({ data: {} })),
    );
  }
  const started = performance.now();
  let count = 0;
  const loop = async () => {
    for (;;) {
      const jobs = await boss.fetch("bench", { batchSize: batch });
      if (!jobs || jobs.length === 0) return;
      await boss.complete(
        "bench",
        jobs.map((job: { id: string }) => job.id),
      );
      count += jobs.length;
    }
  };
  await Promise.all([loop(), loop()]);
  const seconds = (performance.now() - started) / 1000;
  await boss.stop({ graceful: false });
  if (count < total) throw new Error(`pg-boss drained only ${count} of ${total}`);
  return total / seconds;
}
