/** Runs the variants of a drill in their order, tells what goes on, and keeps what they leave. */
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { isEscapementError } from "../../base/errors.ts";
import { ExitCode } from "../../base/exit-code.ts";
import { userName } from "../../base/user-name.ts";
import type { DrillResult } from "../../chaos/drill/drill-report.ts";
import type { RunDrillOptions } from "../../chaos/drill/run-options.ts";
import type { DrillVariant, ResolvedDrill } from "../../spec/drill-definition.ts";
import { Database } from "../../store/database.ts";
import { checkSchema } from "../../store/migrate.ts";
import { requireCluster } from "../cluster-file.ts";
import { reportError } from "../error-report.ts";
import { storeUrl } from "../store-url.ts";
import { paint, print, printJsonLine, say } from "../terminal.ts";
import type { DrilledHosts } from "./cluster-hosts.ts";
import { openDoors } from "./doors.ts";
import { localAddressTowards } from "./local-address.ts";
import type { DrillRunOptions } from "./run.ts";
import { requireRunsFolder, runFolder } from "./run-files.ts";
import { leftOutBecause, type ScheduledRun } from "./scheduled-run.ts";
import { type StopSignals, stopSignals } from "./stop-signals.ts";
import { tellResult } from "./tell-result.ts";
import { goOnUnheard } from "./unheard.ts";

export interface VariantsToRun {
  readonly drill: ResolvedDrill;
  readonly variants: readonly DrillVariant[];
  readonly hosts: DrilledHosts;
  /** The cluster file. */
  readonly cluster: string;
  readonly scheduled: ScheduledRun | undefined;
  readonly options: DrillRunOptions;
}

/** A refused variant is a result like the others; the rest may still run. */
type Outcome = "pass" | "fail" | "unknown" | "refused";

const codeOf = {
  pass: ExitCode.ok,
  fail: ExitCode.failed,
  unknown: ExitCode.unknown,
  refused: ExitCode.refused,
} as const;
/** Of several, the worst counts. */
const badness: readonly Outcome[] = ["pass", "refused", "unknown", "fail"];
const deployed = "/opt/escapement/current";

export async function runVariants(wish: VariantsToRun): Promise<void> {
  const db = new Database(await storeUrl(wish.options), {
    maxConnections: 4,
    applicationName: "escapement-drill",
    // The store may be what the fault takes away.
    queryTimeoutMs: 5_000,
    connectTimeoutMs: 3_000,
  });
  const stop = stopSignals();
  goOnUnheard();
  try {
    await Promise.race([runThem(wish, db, stop), stop.left]);
  } catch (error) {
    // Witness, ssh and store are still at it, and would be for minutes: they end with the process.
    if (stop.second.aborted) process.exit(reportError(error));
    throw error;
  }
}

async function runThem(wish: VariantsToRun, db: Database, stop: StopSignals): Promise<void> {
  const { drill, variants, options, scheduled } = wish;
  const outcomes: Outcome[] = [];
  try {
    await checkSchema(db);
    const who = {
      person: options.by ?? process.env.SUDO_USER ?? userName(),
      version: process.env.ESCAPEMENT_VERSION ?? "0.0.0",
      controller: `${hostname()} ${process.pid} ${randomUUID().slice(0, 8)}`,
    };
    const leftOut = scheduled ? await leftOutBecause(db, { ...scheduled, ...who, variants }) : null;
    if (leftOut !== null) {
      if (options.json) printJsonLine({ event: "left-out", reason: leftOut });
      else print(`${paint.yellow("left out")}  ${drill.definition.name}: ${leftOut}`);
      return;
    }
    await requireRunsFolder(options.inventory, options.out);
    const common = { ...(await commonOptions(wish, db, stop)), ...who };
    for (const variant of variants) {
      let everywhere = false;
      const onPreflight: RunDrillOptions["onPreflight"] = (items) => {
        everywhere = items.some((one) => one.ok === false && one.everywhere === true);
      };
      const outcome = await runOne({ ...common, variant, onPreflight }, options);
      outcomes.push(outcome);
      const isLast = outcomes.length === variants.length;
      // A condition of the cluster is no different for the next variant.
      const goesOn = outcome === "pass" || (outcome === "refused" && !everywhere);
      if (stop.first.aborted || !goesOn) {
        if (!isLast)
          say(`${variants.length - outcomes.length} variant(s) of ${drill.definition.name} not run`);
        break;
      }
    }
  } finally {
    // Once left, nobody waits for anything: not for what the store is still asked, either.
    if (!stop.second.aborted) {
      stop.close();
      await db.end();
    }
  }
  const worst = outcomes.reduce((a, b) => (badness.indexOf(b) > badness.indexOf(a) ? b : a), "pass");
  process.exitCode = stop.first.aborted ? ExitCode.interrupted : codeOf[worst];
}

async function commonOptions(
  { drill, hosts, cluster: file, scheduled, options }: VariantsToRun,
  db: Database,
  stop: StopSignals,
): Promise<Omit<RunDrillOptions, "variant" | "person" | "version" | "controller">> {
  const cluster = await requireCluster(file);
  const parted = hosts.hosts.filter(({ parts }) => parts.length > 0);
  const executor = parted.find(({ parts }) => parts.includes("executor"));
  const address = options.address ?? (await localAddressTowards(executor?.addresses[0] ?? "127.0.0.1"));
  const doors = new Map(
    (
      await openDoors(
        parted.map(({ name }) => name),
        hosts,
        options,
      )
    ).map((door) => [door.host, door]),
  );
  return {
    definition: drill.definition,
    digest: drill.digest,
    cluster,
    virtualAddress: hosts.virtualAddress ?? cluster.scheduler.virtualAddress,
    hosts: parted,
    named: options.host ?? [],
    connectHost: async ({ name }) => doors.get(name)!,
    db,
    probe: {
      command: options.probe ?? [`${deployed}/node`, `${deployed}/escapement.mjs`, "drill", "probe"],
      address,
      port: options.port,
      ...(options.runAs !== undefined && { runAs: options.runAs }),
    },
    trigger: scheduled ? "schedule" : "manual",
    signal: stop.first,
    hurry: stop.second,
    say: (line) => (options.json ? printJsonLine({ event: "progress", at: new Date(), line }) : say(line)),
  };
}

async function runOne(options: RunDrillOptions, cli: DrillRunOptions): Promise<Outcome> {
  const { runDrill } = await import("../../chaos/drill/run-drill.ts");
  const runId = randomUUID();
  const title = `${options.definition.name}/${options.variant.name}`;
  let result: DrillResult;
  try {
    result = await runDrill({ ...options, runId });
  } catch (error) {
    // Preflight said no to this variant; anything else concerns them all.
    if (!isEscapementError(error) || error.code !== "E_DRILL_REFUSED") throw error;
    const { message: reason, hint } = error;
    if (cli.json) printJsonLine({ event: "refused", variant: title, reason, hint });
    else print(`${paint.yellow("refused")}  ${title}: ${reason}\n  ${hint}`);
    return "refused";
  }
  await tellResult(result, runFolder(cli.inventory, cli.out, runId), cli);
  return result.report.verdict;
}
