/** `escapement checklist`: fifteen questions about a cluster, answered with evidence; and a gate for releases. */
import { type Command, InvalidArgumentError, Option } from "commander";
import { parseDuration } from "../base/duration.ts";
import { messageOf } from "../base/errors.ts";
import { ExitCode } from "../base/exit-code.ts";
import { buildGate } from "./checklist/gate.ts";
import { buildKeygen } from "./checklist/keygen.ts";
import { buildRehearse } from "./checklist/rehearse.ts";
import { buildVerify } from "./checklist/verify.ts";
import { defineCommand } from "./command.ts";
import { type ReachOptions, withReachOptions } from "./hosts/reach-options.ts";
import { type StoreOptions, withStoreOptions } from "./store-url.ts";

type Format = import("./checklist/formats.ts").Format;

export interface ChecklistOptions extends StoreOptions, ReachOptions {
  readonly inventory?: string;
  readonly profiles?: readonly string[];
  readonly watch?: string;
  readonly standby?: string;
  readonly item?: readonly number[];
  readonly job?: string;
  readonly format?: readonly Format[];
  readonly output?: string;
  readonly gate?: boolean;
  readonly baseline?: string;
  readonly waivers?: string;
  readonly sign?: string;
  readonly commit?: string;
  readonly by?: string;
  /** Milliseconds. */
  readonly window: number;
  /** Milliseconds. */
  readonly itemTimeout: number;
  readonly verbose?: boolean;
  readonly json?: boolean;
}

const defaultWindow = "400d";
/** A century: times before it are none of ours. */
const longestWindowMs = 36_500 * 86_400_000;
/** With connecting before and writing after, a run then stays within a minute. */
const defaultItemTimeout = "40s";
const longestItemTimeoutMs = 600_000;
/** The same names as in checklist/formats.ts, which is loaded only for a run. */
const formatNames = ["text", "json", "junit", "sarif", "md", "html"];

export function build(): Command {
  const command = defineCommand("checklist", "ask a cluster the questions that a release depends on", {
    examples: [
      "escapement checklist --cluster cluster.yaml",
      "escapement checklist jobs/ --cluster cluster.yaml -i inventory.yaml --gate --format json,junit,sarif,md,html -o out",
      "escapement checklist --cluster cluster.yaml --item 3,5 --job finance/settlement -v",
      "escapement checklist gate out/report.json",
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
      "Without --gate it ends with 0 when it could ask. With --gate: 0 all pass, 1 something fails, 5 something is\nunknown; what was not asked (--item, --job) is unknown. Job files are read from the paths, else from jobs/\nbeside the cluster file; inventory.yaml and watch.yaml are looked for there, too. docs/checklist.md.",
  })
    .argument("[path...]", "job files or folders")
    .option("-i, --inventory <file>", "the hosts (default: inventory.yaml beside the cluster file)")
    .option("--profiles <path...>", "profiles of the site, in place of those of equal names")
    .option("--watch <file>", "the watchman's file (default: watch.yaml beside the cluster file)")
    .option(
      "--standby <url>",
      "a standby of the record store, asked whether it follows (default: ESCAPEMENT_STANDBY_URL)",
    )
    .option("--item <number,...>", "only these items", itemNumbers)
    .option("--job <job>", "only this job, where an item is about jobs")
    .option("--format <name,...>", `${formatNames.join(", ")} (default: text)`, formats)
    .option("-o, --output <folder>", "write the formats here")
    .option("--gate", "end with 0, 1 or 5, as the report comes to")
    .option("--baseline <file>", "a JSON report to hold this one against (default: the last recorded run)")
    .option("--waivers <file>", "open answers that may pass for a time")
    .option("--sign <file>", "sign the JSON report with this private key")
    .option("--commit <id>", "the commit of the files, where there is no git repository", commitId)
    .addOption(
      new Option("--window <duration>", "how far back executions are looked at")
        .argParser(windowOf)
        .default(parseDuration(defaultWindow), defaultWindow),
    )
    .addOption(
      new Option("--item-timeout <duration>", "time for each item; looks at slow hosts get more with it")
        .argParser(itemTimeout)
        .default(parseDuration(defaultItemTimeout), defaultItemTimeout),
    )
    .option("--by <person>", "who asks; default: your login, or SUDO_USER")
    .option("-v, --verbose", "all answers, with their evidence")
    .option("--json", "print the report as one JSON document")
    .option("--quiet", "say nothing about the work")
    .option("--no-color", "no colours")
    .option("--debug", "show where an error came from")
    // `verify` and `gate` have options of these names, too.
    .enablePositionalOptions();
  for (const buildSubcommand of [buildGate, buildVerify, buildKeygen, buildRehearse])
    command.addCommand(buildSubcommand());
  return withReachOptions(withStoreOptions(command)).action(
    async (paths: string[], options: ChecklistOptions) => {
      const { runChecklist } = await import("./checklist/run.ts");
      await runChecklist(paths, options);
    },
  );
}

function itemNumbers(text: string, before: readonly number[] = []): readonly number[] {
  const numbers = text.split(",").map((part) => (/^\s*\d{1,2}\s*$/.test(part) ? Number(part) : Number.NaN));
  if (numbers.some(Number.isNaN)) throw new InvalidArgumentError("write numbers, such as 3 or 3,5.");
  return [...new Set([...before, ...numbers])];
}

function commitId(text: string): string {
  if (!/^[0-9a-f]{7,64}$/i.test(text)) throw new InvalidArgumentError("write at least 7 digits of its id.");
  return text;
}

function formats(text: string, before: readonly Format[] = []): readonly Format[] {
  const names = text.split(",").map((part) => part.trim());
  const unknown = names.find((name) => !formatNames.includes(name));
  if (unknown !== undefined)
    throw new InvalidArgumentError(`${unknown || "nothing"} is not one of ${formatNames.join(", ")}.`);
  return [...new Set([...before, ...(names as Format[])])];
}

function itemTimeout(text: string): number {
  const ms = duration(text);
  if (ms < 1_000 || ms > longestItemTimeoutMs)
    throw new InvalidArgumentError("write a duration from 1s to 10m.");
  return ms;
}

function windowOf(text: string): number {
  const ms = duration(text);
  if (ms < 1_000 || ms > longestWindowMs)
    throw new InvalidArgumentError("write a duration from 1s to 36500d.");
  return ms;
}

function duration(text: string): number {
  try {
    return parseDuration(text);
  } catch (error) {
    throw new InvalidArgumentError(messageOf(error));
  }
}
