/** `escapement explain HOST KEY`: what a host shall have, and where the value came from. */
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { Command } from "commander";
import { EscapementError, messageOf } from "../base/errors.ts";
import { ExitCode } from "../base/exit-code.ts";
import type { HostFacts } from "../hardware/host-facts.ts";
import type { CompiledProfile } from "../provision/profile/compile-profile.ts";
import type { Explained } from "../provision/profile/explain.ts";
import type { InventoryHost } from "../spec/inventory-definition.ts";
import { formatPosition } from "../spec/problem.ts";
import { defineCommand } from "./command.ts";
import { connectionFor, type ReachOptions, withReachOptions } from "./hosts/reach-options.ts";
import {
  chooseHosts,
  type InventoryOptions,
  requireInventory,
  withInventoryOption,
} from "./inventory-file.ts";
import { failOnProblems, printProblems } from "./problems.ts";
import { paint, print, printJson, say, table } from "./terminal.ts";

interface ExplainOptions extends InventoryOptions, ReachOptions {
  readonly facts?: string;
  readonly profiles?: readonly string[];
  readonly json?: boolean;
}

export function build(): Command {
  const command = defineCommand("explain", "what a host shall have, and where each value came from", {
    examples: [
      "escapement explain exec-1 executor.slots.cpu",
      "escapement explain exec-1 executor --facts facts.json",
      "escapement explain sched-a file:/etc/chrony/chrony.conf -i inventory.yaml --json",
    ],
    exitCodes: [ExitCode.ok, ExitCode.unknown, ExitCode.badData, ExitCode.unavailable],
    notes:
      "KEY is a value (executor.slots.cpu), the beginning of several (executor), or a resource of the plan; without\nit every value is shown. Without --facts the host is asked. Exit 5 where a value cannot be known.",
  })
    .argument("<host>", "a host of the inventory")
    .argument("[key]", "which value")
    .option("--facts <file>", "facts of the host, as escapement facts --json printed them")
    .option("--profiles <path...>", "profiles of the site, in place of those of equal names")
    .option("--json", "print one JSON document");
  return withReachOptions(withInventoryOption(command)).action(run);
}

async function run(name: string, key: string | undefined, options: ExplainOptions): Promise<void> {
  const inventory = await requireInventory(options);
  const [host] = chooseHosts(inventory, [name]);
  const { loadProfiles } = await import("../provision/profile/load-profiles.ts");
  const { compileProfile } = await import("../provision/profile/compile-profile.ts");
  const { explain } = await import("../provision/profile/explain.ts");
  const profiles = await loadProfiles(options.profiles ?? []);
  failOnProblems(profiles.problems);
  const facts =
    options.facts === undefined ? await ask(host!, options) : await readFacts(options.facts, name);
  const compiled = compileProfile({ host: name, inventory, profiles, facts });
  const { found, suggestion } =
    key === undefined
      ? { found: explain(compiled, "").found, suggestion: undefined }
      : explain(compiled, key);
  if (found.length === 0)
    throw new EscapementError("E_BAD_VALUE", {
      option: "KEY",
      value: key ?? "",
      expected: `a value or resource of ${name}`,
      hint: suggestion === undefined ? "without KEY every value is shown" : `did you mean ${suggestion}?`,
    });
  if (found.some(({ unavailable }) => unavailable !== undefined)) process.exitCode = ExitCode.unknown;
  if (options.json) {
    const { profile, notes } = compiled;
    printJson({ host: name, profile, values: found, notes });
    return;
  }
  printProblems(profiles.warnings);
  printNotes(compiled);
  if (found.length === 1) printOne(found[0]!);
  else
    print(
      table(
        ["key", "value", "from"],
        found.map(({ key: of, value, from, because, unavailable }) => [
          of,
          value,
          `${because === undefined ? from : `${from}: ${because}`}${unavailable === undefined ? "" : paint.yellow(` (${unavailable})`)}`,
        ]),
      ),
    );
}

function printOne({ key, value, from, because, resources, unavailable }: Explained): void {
  print(`${paint.bold(key)} = ${value}`);
  print(`  from     ${from}`);
  if (because !== undefined) print(`  because  ${because}`);
  if (resources.length > 0) print(`  in       ${resources.join(", ")}`);
  if (unavailable !== undefined) print(`  ${paint.yellow("unknown")}  ${unavailable}`);
}

function printNotes({ notes }: CompiledProfile): void {
  for (const { severity, text, at } of notes)
    say(`${severity}: ${text}${at ? ` (${formatPosition(at)})` : ""}`);
}

async function ask(host: InventoryHost, options: ReachOptions): Promise<HostFacts> {
  const { runFleet } = await import("../remote/fleet.ts");
  const { gatherDeadlineMs, gatherScript } = await import("../hardware/gather/gather-script.ts");
  const { parseGathered } = await import("../hardware/gather/gathered.ts");
  const { connect, signal } = await connectionFor(options);
  const nonce = randomUUID().replaceAll("-", "");
  const [result] = await runFleet({
    targets: [host.target],
    connect,
    signal,
    work: async (remote) => {
      const { stdout } = await remote.exec({
        argv: ["sh", "-s"],
        stdin: gatherScript(nonce),
        asRoot: true,
        deadlineMs: gatherDeadlineMs,
      });
      return parseGathered(stdout, nonce);
    },
  });
  if (result?.status === "ok") return result.value;
  throw new EscapementError("E_UNAVAILABLE", {
    what: `${host.name}: ${result?.message ?? "was not asked"}`,
    hint: result?.hint ?? "or pass --facts FILE",
  });
}

async function readFacts(file: string, host: string): Promise<HostFacts> {
  const { factsFromJson } = await import("../provision/profile/facts-from-json.ts");
  let document: unknown;
  try {
    document = JSON.parse(await readFile(file, "utf8"));
  } catch (error) {
    throw new EscapementError("E_FILE_UNREADABLE", { file, reason: messageOf(error) }, { cause: error });
  }
  const facts = factsFromJson(document, host);
  if (facts) return facts;
  throw new EscapementError("E_BAD_DATA", {
    what: `${file} holds no facts of ${host}`,
    hint: `escapement facts ${host} --json writes them`,
  });
}
