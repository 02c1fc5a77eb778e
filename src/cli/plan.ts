/** `escapement plan`: what apply would change on the hosts, without changing anything. */
import { writeFile } from "node:fs/promises";
import type { Command } from "commander";
import { EscapementError, messageOf } from "../base/errors.ts";
import { ExitCode } from "../base/exit-code.ts";
import { defineCommand } from "./command.ts";
import { type DefinitionOptions, loadDefinitions, withDefinitionOptions } from "./provision/definitions.ts";
import { print, printJson, say } from "./terminal.ts";

interface PlanOptions extends DefinitionOptions {
  readonly output?: string;
  readonly exitCode?: boolean;
  readonly diff?: boolean;
  readonly all?: boolean;
  readonly json?: boolean;
}

export function build(): Command {
  const command = defineCommand("plan", "what apply would change on hosts, without changing anything", {
    examples: [
      "escapement plan",
      "escapement plan exec-1 --diff",
      "escapement plan -i inventory.yaml -o plan.json --exit-code",
    ],
    exitCodes: [
      ExitCode.ok,
      ExitCode.failed,
      ExitCode.changesPending,
      ExitCode.partial,
      ExitCode.unknown,
      ExitCode.badData,
      ExitCode.unavailable,
      ExitCode.interrupted,
    ],
    notes: "The plan file holds what each host said; apply with it refuses a host that has moved since.",
  })
    .argument("[host...]", "only these; without names all that have a profile")
    .option("-o, --output <file>", "write the plan, for escapement apply FILE")
    .option(
      "--exit-code",
      "end with 2 when there is something to change, with 1 when something is left to others, with 5 when something is unknown",
    )
    .option("--diff", "show the text that changes")
    .option("--all", "list also what cannot be judged on this kind of host")
    .option("--json", "print one JSON document");
  return withDefinitionOptions(command).action(run);
}

async function run(names: string[], options: PlanOptions): Promise<void> {
  const { describe, cache, hosts, reach } = await loadDefinitions(names, options);
  const { planFleet } = await import("../provision/plan/fleet-plan.ts");
  const { hasChanges, leftToOthers, openUnknownsOf } = await import("../provision/plan/host-plan.ts");
  const { planDocument, planFileVersion } = await import("../provision/plan/plan-file.ts");
  const { fleetExitCode } = await import("../remote/fleet.ts");
  const { planText, recap } = await import("./provision/plan-text.ts");
  const results = await planFleet({ ...reach, describe, cache, targets: hosts.map(({ target }) => target) });
  const document = {
    kind: "Plan",
    planVersion: planFileVersion,
    toolVersion: process.env.ESCAPEMENT_VERSION ?? "0.0.0",
    madeAt: new Date().toISOString(),
    hosts: results.map(planDocument),
  };
  if (options.output !== undefined) {
    try {
      await writeFile(options.output, `${JSON.stringify(document, null, 1)}\n`, { mode: 0o600 });
    } catch (error) {
      const what = `cannot write ${options.output}: ${messageOf(error)}`;
      throw new EscapementError("E_UNAVAILABLE", { what, hint: "check the folder and its permissions" });
    }
  }
  const plans = results.flatMap((result) => (result.status === "ok" ? [result.value.plan] : []));
  const failed = fleetExitCode(results);
  const unknown = plans.some((plan) => openUnknownsOf(plan).length > 0);
  process.exitCode =
    failed !== ExitCode.ok || !options.exitCode
      ? failed
      : plans.some(hasChanges)
        ? ExitCode.changesPending
        : plans.some((plan) => leftToOthers(plan).length > 0)
          ? ExitCode.failed
          : unknown
            ? ExitCode.unknown
            : ExitCode.ok;
  if (options.json) return printJson(document);
  for (const result of results) {
    if (result.status !== "ok") {
      print(`${result.host}  ${result.status}: ${result.message}`);
      say(`  ${result.hint}`);
      continue;
    }
    print(
      planText(result.value.plan, {
        diff: options.diff ?? false,
        all: options.all ?? false,
        durationMs: result.durationMs,
      }),
    );
    for (const { severity, text } of result.value.notes)
      if (severity !== "info") print(`  ${severity}: ${text}`);
  }
  const statuses = results.map((result) =>
    result.status === "ok" ? (hasChanges(result.value.plan) ? "to change" : "ok") : result.status,
  );
  print();
  print(
    recap(statuses.map((status) => (status === "to change" ? "changed" : status))).replace(
      " changed",
      " to change",
    ),
  );
}
