/** `escapement verify`: whether hosts are what they should be, in effect and not only on paper. */
import type { Command } from "commander";
import { ExitCode } from "../base/exit-code.ts";
import type { HostVerdict } from "../provision/drift/verdict.ts";
import { defineCommand } from "./command.ts";
import { type DefinitionOptions, loadDefinitions, withDefinitionOptions } from "./provision/definitions.ts";
import { unknownLines } from "./provision/needs.ts";
import type { ProcurementOptions } from "./provision/procurement.ts";
import { paint, print, printJson } from "./terminal.ts";

export function build(): Command {
  const command = defineCommand("verify", "whether hosts are what they should be, in effect", {
    examples: [
      "escapement verify",
      "escapement verify sched-a --json",
      "escapement verify store-1 --procurement order.json --measure",
    ],
    exitCodes: [
      ExitCode.ok,
      ExitCode.failed,
      ExitCode.unknown,
      ExitCode.badData,
      ExitCode.unavailable,
      ExitCode.interrupted,
    ],
    notes:
      "Running kernel settings, running services, sshd's and nftables' own answers count, not only files. What could\nnot be looked at is unknown (exit 5), and so is a host that does not answer; a clear no (exit 1) goes before.",
  })
    .argument("[host...]", "only these; without names all that have a profile")
    .option("--procurement <file>", "test the hardware against this procurement sheet (.json) instead")
    .option("--role <name>", "with --procurement: role in the sheet, in place of the host's profile")
    .option("--folder <folder>", "with --procurement: folder whose disk is tested")
    .option("--measure", "with --procurement: measure flushes and writes in that folder")
    .option("--all", "list also what cannot be judged on this kind of host")
    .option("--json", "print one JSON document");
  return withDefinitionOptions(command).action(
    async (names: string[], options: DefinitionOptions & ProcurementOptions & { readonly all?: boolean }) => {
      if (options.procurement !== undefined) {
        const { verifyProcurement } = await import("./provision/procurement.ts");
        return verifyProcurement(names, options);
      }
      const verdicts = await lookAtHosts(names, options);
      process.exitCode = verdictsExitCode(verdicts);
      if (options.json) return printJson({ hosts: verdicts });
      for (const verdict of verdicts) printVerdict(verdict, options.all ?? false);
    },
  );
}

/** One verdict a host; a host that does not answer is unknown. */
export async function lookAtHosts(
  names: readonly string[],
  options: DefinitionOptions,
): Promise<readonly HostVerdict[]> {
  const { describe, cache, hosts, reach } = await loadDefinitions(names, options);
  const { planFleet } = await import("../provision/plan/fleet-plan.ts");
  const { verdictOf } = await import("../provision/drift/verdict.ts");
  const results = await planFleet({ ...reach, describe, cache, targets: hosts.map(({ target }) => target) });
  return results.map((result): HostVerdict => {
    if (result.status === "ok") return verdictOf(result.value.plan, result.value.clock);
    const { host, status, message } = result;
    return {
      host,
      answer: "unknown",
      right: 0,
      deviations: [{ id: status, answer: "unknown", because: message }],
    };
  });
}

export function verdictsExitCode(verdicts: readonly HostVerdict[]): ExitCode {
  if (verdicts.some(({ answer }) => answer === "no")) return ExitCode.failed;
  return verdicts.some(({ answer }) => answer === "unknown") ? ExitCode.unknown : ExitCode.ok;
}

/** @param all lists also what cannot be judged on this kind of host */
export function printVerdict({ host, answer, right, deviations }: HostVerdict, all: boolean): void {
  const wrong = deviations.filter((one) => one.answer === "no");
  const unknown = deviations.filter((one) => one.answer === "unknown");
  const colour = { yes: paint.green, no: paint.red, unknown: paint.yellow }[answer];
  const words = { yes: "as it should be", no: "not as it should be", unknown: "unknown" }[answer];
  const counts = [`${right} right`];
  if (wrong.length > 0) counts.push(`${wrong.length} not`);
  if (unknown.length > 0) counts.push(`${unknown.length} unknown`);
  print(`${paint.bold(host)}  ${colour(words)}  ${counts.join(", ")}`);
  for (const { id, because } of wrong) print(`  ${paint.red("✗")} ${id}  ${because}`);
  for (const line of unknownLines(
    unknown.map(({ id, because }) => `${id}  ${because}`),
    all,
  ))
    print(line);
}
