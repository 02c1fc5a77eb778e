/** `escapement drift`: looks at hosts once or on a timer, keeps what it saw, and says what has changed. */
import { basename, join, resolve } from "node:path";
import { type Command, InvalidArgumentError } from "commander";
import { formatDuration, parseDuration } from "../base/duration.ts";
import { isEscapementError } from "../base/errors.ts";
import { ExitCode } from "../base/exit-code.ts";
import { sleep } from "../base/monotonic.ts";
import { defineCommand } from "./command.ts";
import { type DefinitionOptions, withDefinitionOptions } from "./provision/definitions.ts";
import { stateFolder } from "./state-folder.ts";
import { printJson, say } from "./terminal.ts";
import { lookAtHosts, printVerdict, verdictsExitCode } from "./verify.ts";

interface DriftOptions extends DefinitionOptions {
  readonly watch?: boolean;
  readonly every?: number;
  readonly all?: boolean;
  readonly log?: string;
  readonly json?: boolean;
}

export function build(): Command {
  const command = defineCommand(
    "drift",
    "look at hosts on a timer, and say what has changed since the last look",
    {
      examples: ["escapement drift", "escapement drift --watch --every 15m --log drift.jsonl"],
      exitCodes: [
        ExitCode.ok,
        ExitCode.failed,
        ExitCode.unknown,
        ExitCode.badData,
        ExitCode.unavailable,
        ExitCode.interrupted,
      ],
      notes:
        "Every look is kept in the log, each line with the sum of the one before; only hosts that changed are printed.",
    },
  )
    .argument("[host...]", "only these; without names all that have a profile")
    .option("--watch", "go on until stopped")
    .option("--every <duration>", "time between two looks (default: 15m)", every)
    .option("--log <file>", "where looks are kept (default: .escapement/drift/ beside the inventory)")
    .option("--all", "list also what cannot be judged on this kind of host")
    .option("--json", "print one JSON document a look");
  return withDefinitionOptions(command).action(run);
}

const defaultEveryMs = 900_000;

function every(text: string): number {
  const ms = parseDuration(text);
  if (ms < 1_000) throw new InvalidArgumentError("must be 1s or more");
  return ms;
}

/** One for each inventory: two sites may have hosts of one name. */
function defaultLog({ inventory }: DriftOptions): string {
  return join(stateFolder(resolve(inventory)), "drift", `${basename(inventory)}.jsonl`);
}

async function run(names: string[], options: DriftOptions): Promise<void> {
  const { DriftLog } = await import("../provision/drift/drift-log.ts");
  const log = await DriftLog.open(options.log ?? defaultLog(options));
  const stop = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => stop.abort());
  let looked = false;
  do {
    // Read anew each time: a changed inventory counts from the next look on.
    const verdicts = await lookAtHosts(names, options).catch((error: unknown) => {
      // A file that is being edited must not end a watch; the first look has shown that it was right once.
      if (!looked || !isEscapementError(error) || error.exitCode !== ExitCode.badData) throw error;
      say(`${new Date().toISOString()}  no look: ${error.message}`);
      return undefined;
    });
    if (verdicts === undefined) {
      process.exitCode = ExitCode.badData;
      await wait(options, stop.signal);
      continue;
    }
    looked = true;
    // A look that was cut short says nothing about the hosts it left out.
    if (stop.signal.aborted) {
      process.exitCode = ExitCode.interrupted;
      return;
    }
    const at = new Date().toISOString();
    const changed = [];
    for (const verdict of verdicts) {
      const { host, answer, deviations } = verdict;
      if (await log.append({ at, host, answer, deviations })) changed.push(verdict);
    }
    process.exitCode = verdictsExitCode(verdicts);
    if (options.json) printJson({ at, changed, hosts: verdicts });
    else for (const verdict of changed) printVerdict(verdict, options.all ?? false);
    if (changed.length === 0) say(`${at}  no change since the last look`);
    if (options.watch) await wait(options, stop.signal);
  } while (options.watch && !stop.signal.aborted);
}

async function wait(options: DriftOptions, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const everyMs = options.every ?? defaultEveryMs;
  say(`next look in ${formatDuration(everyMs)}`);
  await sleep(everyMs, signal);
}
