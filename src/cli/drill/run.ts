/** `escapement drill run NAME`: breaks, proves, puts back, judges. */
import type { Command } from "commander";
import { EscapementError } from "../../base/errors.ts";
import { ExitCode } from "../../base/exit-code.ts";
import { defineCommand } from "../command.ts";
import { withInventoryOption } from "../inventory-file.ts";
import { countOption, durationOption } from "../parse-option.ts";
import { type StoreOptions, withStoreOptions } from "../store-url.ts";
import { print, printJsonLine, say } from "../terminal.ts";
import { type ClusterOptions, drilledHosts } from "./cluster-hosts.ts";
import { type KeyOptions, requireKey, withKeyOption } from "./doors.ts";
import { chooseVariants, type DrillFileOptions, requireDrill, withDrillsOption } from "./drill-files.ts";

export interface DrillRunOptions extends DrillFileOptions, ClusterOptions, StoreOptions, KeyOptions {
  readonly variant?: readonly string[];
  readonly host?: readonly string[];
  readonly yes?: boolean;
  readonly scheduled?: boolean;
  readonly address?: string;
  readonly port: number;
  readonly runAs?: string;
  readonly probe?: readonly [string, ...string[]];
  readonly settle?: number;
  readonly out?: string;
  readonly by?: string;
  readonly json?: boolean;
}

/** Open in the firewall of the profile watchman. */
const witnessPort = 7073;

export function buildRun(): Command {
  const command = defineCommand("run", "break a host on purpose, put it back, and judge what happened", {
    examples: [
      "escapement drill run kill-executor -i inventory.yaml --cluster cluster.yaml",
      "escapement drill run kill-executor -i inventory.yaml --cluster cluster.yaml --yes",
      "escapement drill run stop-primary --variant crash -i inventory.yaml --cluster cluster.yaml --yes --json",
    ],
    exitCodes: [
      ExitCode.ok,
      ExitCode.failed,
      ExitCode.refused,
      ExitCode.unknown,
      ExitCode.badData,
      ExitCode.unavailable,
      ExitCode.interrupted,
    ],
    notes:
      "Without --yes it prints the plan and ends with 4. Exit 0: passed. 1: failed. 5: nothing can be concluded.\n" +
      "Ctrl-C, SIGTERM or a terminal that closes takes the fault back and ends as unknown. A second Ctrl-C leaves at\n" +
      "once: the host restores itself, and escapement drill abort ends the run.\n" +
      "Variants run one after the other. After one that fails, or of which nothing can be concluded, the others do not\n" +
      "run; after one that is refused they do, unless the reason holds for the whole cluster.",
  })
    .argument("<name>", "a drill")
    .option("--variant <name...>", "only these variants")
    .option("--host <name...>", "only these hosts may be the target")
    .option("--yes", "do it")
    .option("--scheduled", "started by the timetable: asks first whether its window is open")
    .option("--address <address>", "an address of this machine that executors reach (default: found out)")
    .option(
      "--port <n>",
      "where this machine listens to the drill's work; 0: any",
      countOption(0, 65_535),
      witnessPort,
    )
    .option("--run-as <user>", "the user that the drill's work runs as on executors")
    .option("--probe <word...>", "how executors start the drill's work (default: the deployed program)")
    .option(
      "--settle <duration>",
      "wait at least this long after the restore (default: the drill's)",
      durationOption,
    )
    .option("--out <folder>", "where report and history are written (default: beside the inventory)")
    .option("--by <person>", "who; default: your login, or SUDO_USER")
    .option("--profiles <path...>", "profiles of the site, in place of those of equal names")
    .option("--json", "print one JSON document a line: plan, progress, verdicts");
  return withKeyOption(withStoreOptions(withDrillsOption(withInventoryOption(command)))).action(run);
}

async function run(name: string, options: DrillRunOptions): Promise<void> {
  const { scheduledRun } = await import("./scheduled-run.ts");
  const scheduled = options.scheduled ? await scheduledRun(name) : undefined;
  const { requireTimeToSettle, withLongerSettle } = await import("./longer-settle.ts");
  const drill = withLongerSettle(scheduled?.drill ?? (await requireDrill(name, options)), options.settle);
  const variants = chooseVariants(drill, options.variant);
  const hosts = await drilledHosts(options);
  await requireTimeToSettle(drill, variants, hosts.leases, options.settle);
  // A run of the timetable asks first whether its window is open.
  if (options.yes && !scheduled) await requireKey(options);
  const { makePlan } = await import("./make-plan.ts");
  const { planText } = await import("./plan-text.ts");
  const names = variants.map((one) => one.name);
  const plan = await makePlan({ drill, variants: names, named: options.host ?? [] }, hosts, options);
  if (options.json) printJsonLine({ event: "plan", ...plan });
  else print(planText(plan));
  if (!options.yes) {
    say("nothing was done: --yes runs it");
    process.exitCode = ExitCode.refused;
    return;
  }
  if (options.cluster === undefined)
    throw new EscapementError("E_USAGE", { what: "--cluster is needed: it names the store and the leases" });
  const { runVariants } = await import("./run-variants.ts");
  await runVariants({ drill, variants, hosts, cluster: options.cluster, scheduled, options });
}
