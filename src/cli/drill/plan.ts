/** `escapement drill plan NAME`: what a run would touch, for how long, and how it comes back. Touches nothing. */
import type { Command } from "commander";
import { ExitCode } from "../../base/exit-code.ts";
import { defineCommand } from "../command.ts";
import { withInventoryOption } from "../inventory-file.ts";
import { type StoreOptions, withStoreOptions } from "../store-url.ts";
import { print, printJson } from "../terminal.ts";
import { type ClusterOptions, drilledHosts } from "./cluster-hosts.ts";
import { chooseVariants, type DrillFileOptions, requireDrill, withDrillsOption } from "./drill-files.ts";

interface PlanOptions extends DrillFileOptions, ClusterOptions, StoreOptions {
  readonly host?: readonly string[];
  readonly variant?: readonly string[];
  readonly json?: boolean;
}

export function buildPlan(): Command {
  const command = defineCommand("plan", "what a drill would touch, for how long, and how it comes back", {
    examples: [
      "escapement drill plan kill-executor -i inventory.yaml --cluster cluster.yaml",
      "escapement drill plan stop-primary --variant crash --json",
    ],
    exitCodes: [ExitCode.ok, ExitCode.refused, ExitCode.badData, ExitCode.unavailable],
    notes:
      "Exit 4 when a run would be refused now: no host it may touch, the cluster is not as it must be, drills are\n" +
      "halted, or another one is on. Nothing is changed, no host is asked. Without a store the records are not asked\n" +
      "either; one that is named and does not answer is exit 69.",
  })
    .argument("<name>", "a drill")
    .option("--variant <name...>", "only these variants")
    .option("--host <name...>", "only these hosts may be the target")
    .option("--profiles <path...>", "profiles of the site, in place of those of equal names")
    .option("--json", "print one JSON document");
  return withStoreOptions(withDrillsOption(withInventoryOption(command))).action(
    async (name: string, options: PlanOptions) => {
      const drill = await requireDrill(name, options);
      const chosen = chooseVariants(drill, options.variant);
      const variants = chosen.map((one) => one.name);
      const { makePlan } = await import("./make-plan.ts");
      const { wouldBeRefused } = await import("../../chaos/plan/drill-plan.ts");
      const { requireTimeToSettle } = await import("./longer-settle.ts");
      const { planText } = await import("./plan-text.ts");
      const wish = { drill, variants, named: options.host ?? [] };
      const hosts = await drilledHosts(options);
      await requireTimeToSettle(drill, chosen, hosts.leases);
      const plan = await makePlan(wish, hosts, options);
      if (options.json) printJson({ ...plan });
      else print(planText(plan));
      if (wouldBeRefused(plan)) process.exitCode = ExitCode.refused;
    },
  );
}
