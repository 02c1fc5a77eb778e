/** `escapement playbook run NAME`: goes through a playbook, or on with it, or takes it back. */

import type { Command } from "commander";
import { EscapementError } from "../../base/errors.ts";
import { ExitCode } from "../../base/exit-code.ts";
import { userName } from "../../base/user-name.ts";
import type { HostWorld } from "../../provision/playbook/host-world.ts";
import type { Playbook } from "../../provision/playbook/load-playbook.ts";
import type { PlaybookHost } from "../../provision/playbook/registry.ts";
import type { RunOptions, RunResult } from "../../provision/playbook/runner.ts";
import { idleTargets } from "../../provision/playbook/select-hosts.ts";
import { defineCommand } from "../command.ts";
import { confirmSeconds } from "../confirm-timeout.ts";
import { askLine, hasTerminal } from "../hosts/ask.ts";
import { type DefinitionOptions, loadDefinitions, withDefinitionOptions } from "../provision/definitions.ts";
import { print, printJson, say } from "../terminal.ts";
import { journalFile, lockJournal } from "./journal-file.ts";
import { picture } from "./picture.ts";
import { type PlaybookOptions, requirePlaybook, withPlaybooksOption } from "./playbook-files.ts";
import { inventoryDigest, playbookHosts, targetsOf } from "./playbook-hosts.ts";
import { previewTable, tellEvent, tellResult } from "./run-text.ts";
import { withStillAtIt } from "./still-at-it.ts";

interface PlaybookRunOptions extends PlaybookOptions, DefinitionOptions {
  readonly host?: readonly string[];
  readonly from?: string;
  readonly fresh?: boolean;
  readonly undo?: boolean;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly confirmTimeout: number;
  readonly journal?: string;
  readonly json?: boolean;
}

export function buildRun(): Command {
  const command = defineCommand(
    "run",
    "go through a playbook; again after an interruption: go on where it stopped",
    {
      examples: [
        "escapement playbook run bootstrap -i inventory.yaml --dry-run",
        "escapement playbook run drain-host --host exec-1 --yes",
        "escapement playbook run upgrade --from executors --yes",
        "escapement playbook run add-executor --host exec-3 --undo --yes",
      ],
      exitCodes: [
        ExitCode.ok,
        ExitCode.failed,
        ExitCode.refused,
        ExitCode.badData,
        ExitCode.unavailable,
        ExitCode.interrupted,
      ],
      notes:
        "What is done stands in a journal beside the inventory (or below XDG_STATE_HOME). Ctrl-C ends the run after\nwhat is in hand; the next run goes on there. A guard that finds a step done leaves it out.",
    },
  )
    .argument("<name>", "a playbook")
    .option("--host <name...>", "the hosts it is about")
    .option("--from <step>", "begin at this step, whatever the journal says")
    .option("--fresh", "do not go on with the run before")
    .option("--undo", "take back what the last run did, the last step first")
    .option("--dry-run", "look only: what would be done, and what is done already")
    .option("--yes", "do not ask before the first change")
    .option(
      "--confirm-timeout <duration>",
      "a host that is not confirmed within this time puts a profile back",
      confirmSeconds,
      60,
    )
    .option("--journal <file>", "another place for the journal")
    .option("--json", "print one JSON document");
  return withDefinitionOptions(withPlaybooksOption(command)).action(run);
}

async function run(name: string, options: PlaybookRunOptions): Promise<void> {
  const playbook = await requirePlaybook(name, options);
  const definitions = await loadDefinitions([], options);
  const { inventory, reach } = definitions;
  const hosts = await playbookHosts(inventory, options.profiles);
  const targets = targetsOf(hosts, options.host ?? [], inventory.file);
  requireTargets(playbook, targets);
  if (!options.dryRun && !options.yes) await confirm(playbook, hosts, targets, options.undo === true);
  const file =
    options.journal ??
    journalFile(
      inventory.file,
      playbook.name,
      targets.map((target) => target.name),
    );
  const { HostWorld: World } = await import("../../provision/playbook/host-world.ts");
  const { Journal } = await import("../../provision/playbook/journal.ts");
  const { registry } = await import("../../provision/playbook/actions/index.ts");
  const { standbyFirst } = await import("../../provision/playbook/standby-first.ts");
  const { profileService } = await import("./profile-service.ts");
  const { ownRelease } = await import("../deploy/own-release.ts");
  const letGo = options.dryRun ? () => {} : lockJournal(file);
  const world = new World({
    inventory,
    hosts,
    connect: reach.connect,
    profiles: await profileService(definitions, options.confirmTimeout),
    release: ownRelease,
    reason: `playbook ${playbook.name}`,
    person: process.env.SUDO_USER ?? userName(),
  });
  const journal = new Journal(file);
  const runOptions: RunOptions<HostWorld> = {
    playbook,
    registry,
    world,
    hosts,
    targets,
    inventoryDigest: inventoryDigest(inventory),
    journal,
    signal: reach.signal,
    ...(options.from !== undefined && { from: options.from }),
    ...(options.fresh && { fresh: true }),
    onEvent: withStillAtIt(tellEvent, say),
    standbyFirst: (among) => standbyFirst(world, among),
  };
  try {
    if (options.dryRun) await dryRun(runOptions, options.json === true);
    else await go(runOptions, options, file);
  } finally {
    journal.close();
    await world.close();
    letGo();
  }
}

async function dryRun(options: RunOptions<HostWorld>, json: boolean): Promise<void> {
  const { previewPlaybook } = await import("../../provision/playbook/preview.ts");
  const previews = await previewPlaybook(options);
  if (json) printJson({ playbook: options.playbook.name, dryRun: true, steps: previews });
  else print(previewTable(previews));
}

async function go(options: RunOptions<HostWorld>, cli: PlaybookRunOptions, file: string): Promise<void> {
  const { runPlaybook } = await import("../../provision/playbook/runner.ts");
  const { undoPlaybook } = await import("../../provision/playbook/undo.ts");
  const result: RunResult = cli.undo ? await undoPlaybook(options) : await runPlaybook(options);
  if (result.outcome === "failed") process.exitCode = ExitCode.failed;
  if (result.outcome === "interrupted") process.exitCode = ExitCode.interrupted;
  if (cli.json) printJson({ playbook: options.playbook.name, journal: file, ...result });
  else tellResult(options.playbook, result, file);
  if (result.outcome !== "failed" || cli.undo || cli.json || !hasTerminal()) return;
  if (!options.playbook.spec.steps.some((step) => step.undo)) return;
  // Asked whatever --yes said: it agreed to the playbook, not to its undo.
  if (!isYes(await askLine("Take back what was done? [y/N] "))) return;
  tellResult(options.playbook, await undoPlaybook(options), file);
}

function isYes(answer: string): boolean {
  return /^y(es)?$/i.test(answer);
}

function requireTargets({ name, spec }: Playbook, targets: readonly PlaybookHost[]): void {
  const wanted = { cluster: [0, 0], "one-host": [1, 1], hosts: [1, Number.POSITIVE_INFINITY] }[spec.target];
  if (targets.length >= wanted[0]! && targets.length <= wanted[1]!) {
    const [idle] = idleTargets(spec.steps, targets);
    if (!idle) return;
    const role = idle.roles.join(" and ") || "a host without a role";
    throw new EscapementError("E_REFUSED", {
      what: `no step of ${name} is about ${idle.name}, which is ${role}`,
      hint: `escapement playbook show ${name} says which hosts its steps are about`,
    });
  }
  const what = {
    cluster: "is about the whole cluster and takes no --host",
    "one-host": "needs --host with exactly one host",
    hosts: "needs --host with the hosts it is about",
  }[spec.target];
  throw new EscapementError("E_USAGE", { what: `${name} ${what}` });
}

async function confirm(
  playbook: Playbook,
  hosts: readonly PlaybookHost[],
  targets: readonly PlaybookHost[],
  isUndo: boolean,
): Promise<void> {
  if (!hasTerminal())
    throw new EscapementError("E_REFUSED", {
      what: `${playbook.name} changes hosts, and there is no terminal to ask at`,
      hint: "--dry-run shows what it would do; --yes says that it may",
    });
  say(picture(playbook, hosts, targets));
  const answer = await askLine(isUndo ? "Take it back? [y/N] " : "Go? [y/N] ");
  if (!isYes(answer))
    throw new EscapementError("E_REFUSED", { what: "not wanted", hint: "nothing was changed" });
}
