/** `escapement rollback HOST`: takes the last change of a host back. */
import type { Command } from "commander";
import { EscapementError } from "../base/errors.ts";
import { ExitCode } from "../base/exit-code.ts";
import type { LastChange } from "../provision/apply/rollback-host.ts";
import { defineCommand } from "./command.ts";
import { askLine, hasTerminal } from "./hosts/ask.ts";
import { connectionFor, type ReachOptions, withReachOptions } from "./hosts/reach-options.ts";
import {
  chooseHosts,
  type InventoryOptions,
  requireInventory,
  withInventoryOption,
} from "./inventory-file.ts";
import { print, printJson, say } from "./terminal.ts";

interface RollbackCommandOptions extends InventoryOptions, ReachOptions {
  readonly txn?: string;
  readonly force?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
}

export function build(): Command {
  const command = defineCommand(
    "rollback",
    "take the last change of a host back, with the host's own script",
    {
      examples: [
        "escapement rollback exec-1",
        "escapement rollback exec-1 --txn 20260101T120000Z-a1b2c3 --yes",
      ],
      exitCodes: [
        ExitCode.ok,
        ExitCode.failed,
        ExitCode.refused,
        ExitCode.unknown,
        ExitCode.badData,
        ExitCode.unavailable,
      ],
      notes:
        "A host that has changed since that change is left alone (exit 4); --force takes the change back all the same.\nSeveral changes are taken back one by one, the last first.",
    },
  )
    .argument("<host>", "a host of the inventory")
    .option("--txn <id>", "only if this is the last change; apply says its name with --json")
    .option("--force", "although the host has changed since")
    .option("-y, --yes", "do not ask")
    .option("--json", "print one JSON document");
  return withReachOptions(withInventoryOption(command)).action(run);
}

async function run(name: string, options: RollbackCommandOptions): Promise<void> {
  const inventory = await requireInventory(options);
  const [host] = chooseHosts(inventory, [name]);
  const what = `nobody has agreed to take the last change of ${name} back`;
  const { rollbackHost, lastChange } = await import("../provision/apply/rollback-host.ts");
  const { connect } = await connectionFor(options);
  const remote = await connect(host!.target);
  try {
    if (!options.yes) {
      const last = await lastChange(remote);
      for (const line of lastChangeLines(name, last)) say(line);
      if (!hasTerminal())
        throw new EscapementError("E_REFUSED", {
          what,
          hint: "add --yes where there is no terminal to ask at",
        });
      if (last.transaction && !/^y(es)?$/i.test(await askLine("Take it back? [y/N] ")))
        throw new EscapementError("E_REFUSED", { what, hint: "nothing was changed" });
    }
    const { txn: transaction, force = false } = options;
    const outcome = await rollbackHost(remote, { force, ...(transaction !== undefined && { transaction }) });
    process.exitCode =
      outcome.result === "rolled-back"
        ? ExitCode.ok
        : outcome.result === "broken"
          ? ExitCode.failed
          : ExitCode.refused;
    if (options.json) return printJson({ ...outcome });
    print(`${name}  ${outcome.result.replace("-", " ")}${outcome.reason ? `: ${outcome.reason}` : ""}`);
    for (const line of outcome.moved) print(`    moved: ${line}`);
  } finally {
    await remote.close();
  }
}

function lastChangeLines(host: string, { transaction, resources }: LastChange): readonly string[] {
  if (transaction === undefined) return [`${host} has no change that could be taken back`];
  if (resources.length === 0)
    return [
      `the last change of ${host} is ${transaction}, made by a version that did not say what it changes`,
    ];
  return [
    `the last change of ${host}, ${transaction}, is taken back with all of its ${resources.length} resource(s):`,
    ...resources.map((id) => `  ${id}`),
  ];
}
