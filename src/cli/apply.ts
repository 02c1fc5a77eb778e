/** `escapement apply`: makes hosts what their profiles say, each as one transaction that reverts unless confirmed. */
import { statSync } from "node:fs";
import type { Command } from "commander";
import { EscapementError } from "../base/errors.ts";
import { ExitCode } from "../base/exit-code.ts";
import type { HostOutcome } from "../provision/apply/outcome.ts";
import type { PlannedHost } from "../provision/plan/fleet-plan.ts";
import { defineCommand } from "./command.ts";
import { confirmSeconds } from "./confirm-timeout.ts";
import { askLine, hasTerminal } from "./hosts/ask.ts";
import {
  type DefinitionOptions,
  type Definitions,
  loadDefinitions,
  withDefinitionOptions,
} from "./provision/definitions.ts";
import { print, printJson, say } from "./terminal.ts";

export interface ApplyCommandOptions extends DefinitionOptions {
  readonly yes?: boolean;
  readonly confirmTimeout: number;
  readonly keepGoing?: boolean;
  readonly diff?: boolean;
  readonly all?: boolean;
  readonly json?: boolean;
}

export function build(): Command {
  const command = defineCommand(
    "apply",
    "make hosts what their profiles say; each reverts by itself unless confirmed",
    {
      examples: [
        "escapement apply",
        "escapement apply plan.json --yes",
        "escapement apply exec-1 exec-2 --yes --confirm-timeout 30s",
      ],
      exitCodes: [
        ExitCode.ok,
        ExitCode.failed,
        ExitCode.partial,
        ExitCode.refused,
        ExitCode.unknown,
        ExitCode.badData,
        ExitCode.unavailable,
        ExitCode.interrupted,
      ],
      notes:
        "Hosts are changed one failure domain after another; a failure stops the domains after it. With a plan file a\nhost that has moved since the plan is left alone (exit 4).",
    },
  )
    .argument(
      "[plan-or-host...]",
      "a plan file (its name ends in .json), then hosts; without names all that have a profile",
    )
    .option("-y, --yes", "do not ask")
    .option(
      "--confirm-timeout <duration>",
      "a host that is not confirmed within this time puts everything back",
      confirmSeconds,
      60,
    )
    .option("--keep-going", "go on with other hosts after a failure")
    .option("--diff", "show the text that changes")
    .option("--all", "list also what cannot be judged on this kind of host")
    .option("--json", "print one JSON document");
  return withDefinitionOptions(command).action(run);
}

async function run(words: string[], options: ApplyCommandOptions): Promise<void> {
  const file = words[0]?.endsWith(".json") || (words[0] && isFile(words[0])) ? words[0] : undefined;
  const names = file === undefined ? words : words.slice(1);
  const definitions = await loadDefinitions(names, options);
  const { hasChanges } = await import("../provision/plan/host-plan.ts");
  const { planText, outcomeText, recap } = await import("./provision/plan-text.ts");
  const { outcomesExitCode } = await import("../provision/apply/outcome.ts");
  const { plans, failures } =
    file === undefined ? await planNow(definitions) : await planOf(file, names, definitions);
  const changing = [...plans.values()].filter(({ plan }) => hasChanges(plan));
  if (!options.json) {
    for (const { plan } of changing)
      print(planText(plan, { diff: options.diff ?? false, all: options.all ?? false }));
    for (const [host, { notes }] of plans)
      for (const { severity, text } of notes) if (severity === "warning") say(`${host}: ${text}`);
  }
  for (const one of failures) say(outcomeText(one, options.all ?? false));
  if (changing.length > 0 && !options.yes) await askFirst(changing.length);
  const outcomes = [...failures, ...(await applyAll(plans, definitions, options, failures.length > 0))];
  process.exitCode = definitions.reach.signal.aborted ? ExitCode.interrupted : outcomesExitCode(outcomes);
  if (options.json) return printJson({ hosts: outcomes });
  print();
  print(recap(outcomes.map(({ status }) => status)));
}

/** A folder may have the name of a host. */
function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

interface Plans {
  readonly plans: ReadonlyMap<string, PlannedHost>;
  readonly failures: readonly HostOutcome[];
}

async function planNow({ describe, cache, hosts, reach }: Definitions): Promise<Plans> {
  const { planFleet } = await import("../provision/plan/fleet-plan.ts");
  const { outcomeOfFailure } = await import("../provision/apply/outcome.ts");
  const targets = hosts.map(({ target }) => target);
  const results = await planFleet({ ...reach, describe, cache, targets, settle: true });
  return {
    plans: new Map(
      results.flatMap((result) => (result.status === "ok" ? [[result.host, result.value]] : [])),
    ),
    failures: results.flatMap((result) =>
      result.status === "ok" ? [] : [outcomeOfFailure(result.host, result)],
    ),
  };
}

async function planOf(
  file: string,
  names: readonly string[],
  { describe, hosts }: Definitions,
): Promise<Plans> {
  const { planFromFile, readPlanFile } = await import("../provision/plan/plan-file.ts");
  const plan = await readPlanFile(file);
  const plans = new Map<string, PlannedHost>();
  const stranger = plan.hosts.find(({ host }) => !hosts.some(({ name }) => name === host));
  // A host that was renamed or taken out would be left as it is without a word.
  if (names.length === 0 && stranger)
    throw new EscapementError("E_REFUSED", {
      what: `${file} has ${stranger.host}, which is no host with a profile in this inventory`,
      hint: "make the plan again, or name the hosts",
    });
  for (const { name } of hosts) {
    const entry = plan.hosts.find(({ host }) => host === name);
    if (entry) plans.set(name, planFromFile(entry, describe));
    else if (names.includes(name))
      throw new EscapementError("E_REFUSED", {
        what: `${name} is not in ${file}`,
        hint: "make a plan that has it",
      });
  }
  return { plans, failures: [] };
}

async function askFirst(count: number): Promise<void> {
  const what = `nobody has agreed to change ${count} host(s)`;
  if (!hasTerminal())
    throw new EscapementError("E_REFUSED", { what, hint: "add --yes where there is no terminal to ask at" });
  const answer = await askLine(`Change ${count} host(s)? [y/N] `);
  if (!/^y(es)?$/i.test(answer))
    throw new EscapementError("E_REFUSED", { what, hint: "nothing was changed" });
}

async function applyAll(
  plans: ReadonlyMap<string, PlannedHost>,
  definitions: Definitions,
  options: ApplyCommandOptions,
  unplanned: boolean,
): Promise<readonly HostOutcome[]> {
  const { applyHost } = await import("../provision/apply/apply-host.ts");
  const { applyWaves, wavesByDomain } = await import("../provision/apply/waves.ts");
  const { askScheduler } = await import("../provision/apply/active-scheduler.ts");
  const { outcome } = await import("../provision/apply/outcome.ts");
  const { outcomeText } = await import("./provision/plan-text.ts");
  const { holdersLast } = await import("./provision/holders-last.ts");
  const hosts = definitions.hosts.filter(({ name }) => plans.has(name));
  if (unplanned && !options.keepGoing) {
    const reason = "other hosts could not be planned; --keep-going changes the rest";
    return hosts.map(({ name }) => outcome(name, "skipped", "not-started", { reason }));
  }
  const { reach } = definitions;
  const waves = wavesByDomain(await holdersLast(hosts, definitions));
  const byName = new Map(hosts.map((host) => [host.name, host]));
  return applyWaves(
    waves,
    (name) => {
      const host = byName.get(name)!;
      const scheduler = definitions.schedulerOf(host);
      return applyHost(plans.get(name)!.plan, {
        connect: () => reach.connect(host.target),
        confirmSeconds: options.confirmTimeout,
        ...(scheduler && { activeScheduler: askScheduler(scheduler.address, scheduler.port) }),
      });
    },
    {
      keepGoing: options.keepGoing ?? false,
      concurrency: reach.concurrency,
      signal: reach.signal,
      onOutcome: (one) => {
        if (!options.json) print(outcomeText(one, options.all ?? false));
      },
    },
  );
}
