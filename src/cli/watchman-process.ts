/** Puts a watchman process together: settings, connection, clock, HTTP, alerts, signals. */

import { existsSync } from "node:fs";
import { hostname } from "node:os";
import { dirname, join, resolve } from "node:path";
import { EscapementError } from "../base/errors.ts";
import { ExitCode } from "../base/exit-code.ts";
import { serveHealth } from "../base/health-server.ts";
import { openLog } from "../base/log.ts";
import type { ClusterDefinition, HttpAddress } from "../spec/cluster-definition.ts";
import type { WatchDefinition } from "../spec/watch-definition.ts";
import type { Database } from "../store/database.ts";
import { checkSchema } from "../store/migrate.ts";
import type { WatchmanIdentity } from "../store/watch/watchman-row.ts";
import { AlertDesk } from "../watchman/alert-desk.ts";
import { ClockMonitor } from "../watchman/clock/clock-monitor.ts";
import { addDeliveryMetrics } from "../watchman/delivery-metrics.ts";
import { DigestBook } from "../watchman/digest-book.ts";
import { judge } from "../watchman/judge.ts";
import { LogSink } from "../watchman/log-sink.ts";
import { PictureReader } from "../watchman/picture-reader.ts";
import { defaultWatchSettings, type WatchSettings } from "../watchman/settings.ts";
import { unwatched } from "../watchman/unwatched.ts";
import { readWatchFile, watchSettings } from "../watchman/watch-file.ts";
import { Watchman } from "../watchman/watchman.ts";
import { requireCluster } from "./cluster-file.ts";
import { failOnProblems } from "./problems.ts";
import { clusterDatabase } from "./store-url.ts";
import { paint, print, printJson, table } from "./terminal.ts";
import type { WatchmanOptions } from "./watchman.ts";

const defaultEveryMs = 30_000;
const defaultHttp: HttpAddress = { address: "127.0.0.1", port: 7072 };
/** A pass that takes longer than this has failed. */
const longestQueryMs = 20_000;
/** What a store that says nothing may hold up the end, once everything else is over. */
const longestEndMs = 2_000;

/** Runs until SIGTERM or SIGINT, or looks once. */
export async function runWatchman(options: WatchmanOptions): Promise<void> {
  const cluster = await requireCluster(options.cluster);
  const watch = await findWatch(options);
  const settings = settingsOf(cluster, watch);
  const node = options.node ?? hostname();
  const db = await clusterDatabase(cluster, {
    applicationName: `escapement-watchman ${node}`,
    // Passes, and beside them the deliveries.
    maxConnections: 4,
    queryTimeoutMs: longestQueryMs,
  });
  try {
    if (options.once) await lookOnce(db, settings, node, options.json ?? false);
    else await watchOn(db, settings, node, watch, options);
  } finally {
    await db.end();
  }
}

async function watchOn(
  db: Database,
  settings: WatchSettings,
  node: string,
  watch: WatchDefinition | null,
  options: WatchmanOptions,
): Promise<void> {
  const log = openLog("watchman", { node });
  const clock = new ClockMonitor({ node, host: hostname() });
  const digests = new DigestBook(watch ? join(dirname(watch.spoolFile), "digests.json") : null);
  const desk = watch && (await AlertDesk.open({ watch, db, who: identityOf(node), log }));
  const watchman = new Watchman({
    node,
    settings,
    everyMs: watch?.everyMs ?? defaultEveryMs,
    db,
    checkStore: () => checkSchema(db),
    reader: new PictureReader(db, settings, digests, clock),
    clock,
    sink: desk ?? new LogSink(log),
    log,
  });
  if (desk) addDeliveryMetrics(watchman.metrics.registry, () => desk.status);
  const stopping = new AbortController();
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.on(signal, () => {
      if (stopping.signal.aborted) process.exit(ExitCode.interrupted);
      log.info({ signal }, "stopping");
      stopping.abort();
    });
  }
  const http = options.http === undefined ? (watch?.http ?? defaultHttp) : addressOf(options.http);
  const answers = {
    notReady: () => watchman.notReady(),
    metrics: () => watchman.metrics.registry.render(),
  };
  const inUse = "another process may use the port; see http in the watch file, or --http";
  const server = await serveHealth(http, answers, inUse);
  log.info({ http: `${http.address}:${http.port}`, watch: watch?.name ?? null }, "watchman started");
  try {
    await watchman.run(stopping.signal);
  } finally {
    server.close();
    server.closeAllConnections();
  }
  log.info({}, "watchman stopped");
  // Fires only while something keeps the process: a connection whose statement nobody answers, up to the limit of a query.
  setTimeout(() => {
    log.warn({}, "a statement that the record store did not answer was left behind");
    process.exit();
  }, longestEndMs).unref();
}

async function lookOnce(db: Database, settings: WatchSettings, node: string, json: boolean): Promise<void> {
  await checkSchema(db);
  const clock = new ClockMonitor({ node, host: hostname() });
  await clock.observe(db);
  // Once is all there is: everything of the last day is looked at.
  const audit = { perJob: 2_000, deepPerPass: Number.POSITIVE_INFINITY };
  const picture = await new PictureReader(db, settings, new DigestBook(null), clock, audit).read();
  const findings = judge(picture, settings);
  const unknown = unwatched(picture, settings);
  if (json) {
    printJson({
      now: picture.now,
      jobs: picture.jobs.length,
      findings,
      unknown,
    });
  } else if (findings.length === 0) {
    print(
      `nothing found wrong: ${picture.jobs.length} job(s) looked at, ${picture.now.toISOString()} by the database`,
    );
  } else {
    const colour = { critical: paint.red, warning: paint.yellow, info: (text: string) => text };
    print(
      table(
        ["severity", "rule", "what", "next"],
        findings.map((one) => [colour[one.severity](one.severity), one.rule, one.message, one.hint]),
      ),
    );
  }
  if (!json) for (const what of unknown) print(paint.yellow(`not watched: ${what}`));
  if (findings.some(({ severity }) => severity !== "info")) process.exitCode = ExitCode.failed;
}

function identityOf(node: string): WatchmanIdentity {
  return { node, host: hostname(), pid: process.pid, version: process.env.ESCAPEMENT_VERSION ?? "0.0.0" };
}

/** The watch file that was named, or the one beside the cluster file, or none. @throws E_SPEC_INVALID after printing every problem */
async function findWatch(options: WatchmanOptions): Promise<WatchDefinition | null> {
  const beside = join(dirname(resolve(options.cluster)), "watch.yaml");
  const file = options.watch ?? (existsSync(beside) ? beside : null);
  if (file === null) return null;
  const { watch, problems } = await readWatchFile(file);
  failOnProblems(problems);
  return watch ?? null;
}

function settingsOf(cluster: ClusterDefinition, watch: WatchDefinition | null): WatchSettings {
  const nodes = {
    schedulers: cluster.scheduler.nodes.map(({ name }) => name),
    executors: cluster.executor.nodes.map(({ name }) => name),
  };
  return watch
    ? watchSettings(watch, nodes)
    : { ...defaultWatchSettings, schedulerNodes: nodes.schedulers, executorNodes: nodes.executors };
}

/** `127.0.0.1:7072`. @throws E_BAD_VALUE */
function addressOf(text: string): HttpAddress {
  const at = text.lastIndexOf(":");
  const port = Number(text.slice(at + 1));
  if (at > 0 && Number.isInteger(port) && port > 0 && port <= 65_535)
    return { address: text.slice(0, at), port };
  throw new EscapementError("E_BAD_VALUE", {
    option: "--http",
    value: text,
    expected: "an address and a port",
    hint: "for example 0.0.0.0:7072",
  });
}
