/** Puts an executor process together: settings, connections, HTTP, signals. */

import { accessSync, constants, mkdirSync, realpathSync } from "node:fs";
import type { Server } from "node:http";
import { EscapementError, messageOf } from "../base/errors.ts";
import { ExitCode } from "../base/exit-code.ts";
import { serveHealth } from "../base/health-server.ts";
import { openLog } from "../base/log.ts";
import { Executor } from "../executor/executor.ts";
import { chooseNode, requireCluster } from "./cluster-file.ts";
import { clusterDatabase } from "./store-url.ts";

const longestQueryMs = 10_000;

/** Runs until SIGTERM or SIGINT, then ends the process; a second signal ends it at once. */
export async function runExecutor(options: { cluster: string; node?: string }): Promise<never> {
  const cluster = await requireCluster(options.cluster);
  const node = chooseNode(cluster.executor.nodes, options.node);
  const log = openLog("executor", { node: node.name });
  const { leaseMs, stopEarlyMs } = cluster.executor;
  // Two renewals must fit into the time that a lease is trusted.
  const renewalLimitMs = Math.max(250, (leaseMs - stopEarlyMs) / 2);
  const applicationName = `escapement-executor ${node.name}`;
  const db = await clusterDatabase(cluster, {
    applicationName,
    maxConnections: 3,
    queryTimeoutMs: longestQueryMs,
  });
  const leaseDb = await clusterDatabase(cluster, {
    applicationName: `${applicationName} lease`,
    maxConnections: 1,
    queryTimeoutMs: renewalLimitMs,
    connectTimeoutMs: renewalLimitMs,
  });
  requireWorkFolder(node.workDirectory);
  const executor = new Executor({
    cluster,
    node,
    version: process.env.ESCAPEMENT_VERSION ?? "0.0.0",
    db,
    leaseDb,
    log,
    // The file itself, not the link to it: after an upgrade the link leads to another version.
    supervisorCommand: [process.execPath, realpathSync(process.argv[1]!), "executor-supervisor"],
  });
  const drain = new AbortController();
  const quit = new AbortController();
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.on(signal, () => {
      log.info({ signal }, drain.signal.aborted ? "stopping at once" : "stopping");
      (drain.signal.aborted ? quit : drain).abort();
    });
  }
  let server: Server | undefined;
  try {
    if (node.http) {
      const answers = {
        notReady: () => executor.notReady(),
        metrics: () => executor.metrics.registry.render(),
      };
      server = await serveHealth(node.http, answers, "see http in the cluster file");
    }
    log.info(node.http ? { http: `${node.http.address}:${node.http.port}` } : {}, "executor started");
    await executor.run(drain.signal, quit.signal);
  } catch (error) {
    server?.close();
    await Promise.allSettled([db.end(), leaseDb.end()]);
    throw error;
  }
  // Nothing that is still on its way matters any more.
  process.exit(quit.signal.aborted ? ExitCode.interrupted : ExitCode.ok);
}

/** An executor that cannot make folders would take work and fail it. @throws E_UNAVAILABLE */
function requireWorkFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new EscapementError("E_UNAVAILABLE", {
      what: `the work directory ${folder} cannot be used: ${messageOf(error)}`,
      hint: "it is set in the cluster file; this user must be able to write there",
    });
  }
}
