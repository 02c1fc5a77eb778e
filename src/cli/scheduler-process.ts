/** Puts a scheduler process together: settings, connections, HTTP, signals. */
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { openLog } from "../base/log.ts";
import { serveHttp } from "../scheduler/http-server.ts";
import { Scheduler } from "../scheduler/scheduler.ts";
import { readLeader } from "../store/leadership.ts";
import { listSchedulers } from "../store/scheduler-row.ts";
import { chooseNode, requireCluster } from "./cluster-file.ts";
import { clusterDatabase } from "./store-url.ts";

/** Runs until SIGTERM or SIGINT; a second signal ends the process at once. */
export async function runScheduler(options: { cluster: string; node?: string }): Promise<void> {
  const cluster = await requireCluster(options.cluster);
  const node = chooseNode(cluster.scheduler.nodes, options.node);
  const incarnation = randomUUID();
  const log = openLog("scheduler", { node: node.name, incarnation });
  // No statement of a scheduler may hang for longer than the lease is trusted.
  const queryTimeoutMs = Math.max(500, cluster.scheduler.leaseMs - cluster.scheduler.stopEarlyMs);
  const name = `escapement-scheduler ${node.name}`;
  const limits = { queryTimeoutMs, connectTimeoutMs: Math.min(5_000, queryTimeoutMs), applicationName: name };
  const leaderDb = await clusterDatabase(cluster, { ...limits, maxConnections: 1 });
  const db = await clusterDatabase(cluster, { ...limits, maxConnections: 3 });
  const scheduler = new Scheduler({
    node,
    settings: cluster.scheduler,
    incarnation,
    host: hostname(),
    version: process.env.ESCAPEMENT_VERSION ?? "0.0.0",
    timeZoneData: process.versions.tz ?? "unknown",
    retentionMonths: cluster.records.retentionMonths,
    log,
    leaderDb,
    db,
  });
  const stopping = new AbortController();
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.on(signal, () => {
      if (stopping.signal.aborted) process.exit(130);
      log.info({ signal }, "stopping");
      stopping.abort();
    });
  }
  const server = await serveHttp(node.http, {
    readiness: () => scheduler.readiness(),
    metrics: () => scheduler.metrics.registry.render(),
    status: async () => ({
      node: node.name,
      role: scheduler.role,
      epoch: scheduler.epoch,
      readiness: scheduler.readiness(),
      leader: await readLeader(db),
      schedulers: await listSchedulers(db),
    }),
  });
  log.info({ http: `${node.http.address}:${node.http.port}` }, "scheduler started");
  try {
    await scheduler.run(stopping.signal);
  } finally {
    server.close();
    server.closeAllConnections();
    await Promise.allSettled([leaderDb.end(), db.end()]);
  }
  log.info({}, "scheduler stopped");
}
