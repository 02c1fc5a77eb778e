/** `escapement facts`: what the hosts are made of, and what is wrong with it. */
import type { Command } from "commander";
import { EscapementError } from "../base/errors.ts";
import { ExitCode } from "../base/exit-code.ts";
import type { Examination } from "../hardware/findings/examine.ts";
import type { HostFacts } from "../hardware/host-facts.ts";
import type { HostResult } from "../remote/fleet.ts";
import type { RemoteTarget } from "../remote/remote.ts";
import { defineCommand } from "./command.ts";
import { buildParse } from "./facts/parse.ts";
import { connectionFor, type ReachOptions, withReachOptions } from "./hosts/reach-options.ts";
import {
  chooseHosts,
  type InventoryOptions,
  requireInventory,
  withInventoryOption,
} from "./inventory-file.ts";
import { paint, print, printJson, say } from "./terminal.ts";

interface FactsOptions extends InventoryOptions, ReachOptions {
  readonly local?: boolean;
  readonly json?: boolean;
  readonly findingsOnly?: boolean;
  readonly recordStore: string;
  readonly sudo: boolean;
}

interface Examined extends Examination {
  readonly facts: HostFacts;
}

export function build(): Command {
  const command = defineCommand("facts", "read what hosts are made of, and what is wrong with it", {
    examples: [
      "escapement facts --local",
      "escapement facts -i inventory.yaml --findings-only",
      "escapement facts exec-1 --json",
      "escapement facts parse smartctl sda.json",
    ],
    exitCodes: [
      ExitCode.ok,
      ExitCode.failed,
      ExitCode.partial,
      ExitCode.unknown,
      ExitCode.badData,
      ExitCode.unavailable,
      ExitCode.interrupted,
    ],
    notes:
      "Reads only, installs nothing. Exit 1 when a host has a critical finding, 3 when some hosts could not be\n" +
      "reached, 5 when a host's reply was cut short. What could not be judged is listed with the reason.",
  })
    .argument("[host...]", "only these; without names, all hosts of the inventory")
    .option("--local", "this machine, without inventory and ssh")
    .option("--json", "print one JSON document")
    .option("--findings-only", "leave out the facts")
    .option("--record-store <path>", "where the record store keeps its data", "/var/lib/postgresql")
    .option("--no-sudo", "do not try to become root");
  // Everybody's options are added to commands without subcommands only; this one works by itself as well.
  for (const [flag, what] of [
    ["--quiet", "say nothing about the work"],
    ["--no-color", "no colours"],
    ["--debug", "show where an error came from"],
  ] as const)
    command.option(flag, what);
  command.addCommand(buildParse());
  return withReachOptions(withInventoryOption(command)).action(show);
}

async function show(names: readonly string[], options: FactsOptions): Promise<void> {
  const targets = await targetsOf(names, options);
  const { runFleet } = await import("../remote/fleet.ts");
  const { gatherFacts } = await import("./facts/gather-facts.ts");
  const { examine, sortVerdicts } = await import("../hardware/findings/examine.ts");
  const { acrossHosts } = await import("../hardware/findings/across-hosts.ts");
  const { connect, concurrency, signal } = await connectionFor(options);
  const results = await runFleet<Examined>({
    targets,
    connect,
    concurrency,
    signal,
    work: async (remote) => {
      const facts = await gatherFacts(remote, options.sudo);
      return { facts, ...examine(facts, { recordStorePath: options.recordStore }) };
    },
  });
  const named = results.flatMap((one) =>
    one.status === "ok" ? [{ host: one.host, facts: one.value.facts }] : [],
  );
  const across = sortVerdicts(acrossHosts(named));
  process.exitCode = await exitCodeOf(results, across);
  if (options.json) return printJson(documentOf(results, across, options.findingsOnly === true));
  for (const result of results) await printHost(result, options.findingsOnly === true);
  if (targets.length < 2) return;
  const { printFindings } = await import("./facts/print-findings.ts");
  print(paint.bold("between the hosts"));
  printFindings(across);
}

/** @throws E_USAGE for names beside --local */
async function targetsOf(names: readonly string[], options: FactsOptions): Promise<readonly RemoteTarget[]> {
  if (!options.local) {
    const inventory = await requireInventory(options);
    return chooseHosts(inventory, names, { withoutProfile: true }).map(({ target }) => target);
  }
  if (names.length > 0) throw new EscapementError("E_USAGE", { what: "--local takes no host names" });
  const { localTarget } = await import("./facts/gather-facts.ts");
  return [localTarget()];
}

async function exitCodeOf(results: readonly HostResult<Examined>[], across: Examination): Promise<ExitCode> {
  const { fleetExitCode } = await import("../remote/fleet.ts");
  const found = results.flatMap((one) => (one.status === "ok" ? one.value.findings : []));
  if ([...found, ...across.findings].some((one) => one.severity === "critical")) return ExitCode.failed;
  const code = fleetExitCode(results);
  if (code !== ExitCode.ok) return code;
  const isCut = results.some((one) => one.status === "ok" && "unknown" in one.value.facts.isComplete);
  return isCut ? ExitCode.unknown : ExitCode.ok;
}

function documentOf(results: readonly HostResult<Examined>[], across: Examination, findingsOnly: boolean) {
  return {
    hosts: results.map((result) => {
      const durationMs = Math.round(result.durationMs);
      if (result.status !== "ok") return { ...result, durationMs };
      const { facts, ...examination } = result.value;
      return {
        host: result.host,
        status: "ok",
        durationMs,
        ...(findingsOnly ? {} : { facts }),
        ...examination,
      };
    }),
    acrossHosts: across,
  };
}

async function printHost(result: HostResult<Examined>, findingsOnly: boolean): Promise<void> {
  const { cardLines } = await import("./facts/card.ts");
  const { plain, printFindings } = await import("./facts/print-findings.ts");
  if (result.status !== "ok") {
    print(`${paint.bold(result.host)}  ${paint.red(result.status)}: ${plain(result.message)}`);
    say(`${result.host}: ${result.hint}`);
    return;
  }
  print(paint.bold(result.host));
  if (!findingsOnly)
    for (const [label, text] of cardLines(result.value.facts))
      print(`  ${paint.dim(label.padEnd(10))}${plain(text)}`);
  printFindings(result.value);
}
