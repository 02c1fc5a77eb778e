/** `escapement report`: how a shell script of a job talks to the executor that runs it. */
import { type Command, Option } from "commander";
import { EscapementError } from "../base/errors.ts";
import { ExitCode } from "../base/exit-code.ts";
import { defineCommand } from "./command.ts";
import { countOption } from "./parse-option.ts";
import { print, printJson } from "./terminal.ts";

interface ReportOptions {
  readonly rows?: number;
  readonly checkpoint?: string;
  readonly log?: string;
  readonly get?: "checkpoint" | "keys";
  readonly holding?: boolean;
  readonly json?: boolean;
}

export function build(): Command {
  return defineCommand("report", "from inside a job: report rows, keep or read a checkpoint, ask for keys", {
    examples: [
      "escapement report --rows 1200",
      "escapement report --rows 1200 --checkpoint 'order 88123'",
      "escapement report --get checkpoint",
      "escapement report --get keys",
      "escapement report --holding",
    ],
    exitCodes: [ExitCode.ok, ExitCode.refused, ExitCode.unavailable],
    notes:
      "Works in a command that an executor started. --rows is the number done so far, not the number since the\nlast report. 4 means that the shard belongs to someone else now: stop, and change nothing more.",
  })
    .option("--rows <count>", "rows done so far in this attempt", countOption(0))
    .option("--checkpoint <text>", "keep this place for the next attempt")
    .option("--log <text>", "write a line into the job's log")
    .addOption(
      new Option(
        "--get <what>",
        "print the checkpoint of an earlier attempt, or the keys of this shard, one a line",
      ).choices(["checkpoint", "keys"]),
    )
    .option("--holding", "end with 0 if this attempt still holds its shard, else with 4")
    .option("--json", "print one JSON document")
    .action(report);
}

async function report(options: ReportOptions): Promise<void> {
  const { rows } = options;
  const asked = [options.rows, options.checkpoint, options.log, options.get, options.holding];
  if (asked.every((option) => option === undefined))
    throw new EscapementError("E_USAGE", {
      what: "nothing to report: name --rows, --checkpoint, --log, --get or --holding",
    });
  const { ExecutorLine } = await import("../executor/client.ts");
  const line = await ExecutorLine.open();
  try {
    let held: boolean | undefined;
    if (options.log !== undefined) await line.log(options.log);
    if (options.checkpoint !== undefined) held = await line.checkpoint(options.checkpoint, rows);
    else if (rows !== undefined) await line.rows(rows);
    if (options.holding) held = (await line.holding()) && held !== false;
    const shown: Record<string, unknown> = { ...(held === undefined ? {} : { held }) };
    if (options.get === "keys") shown.keys = await line.keys();
    if (options.get === "checkpoint") Object.assign(shown, await line.readCheckpoint());
    if (options.json) printJson(shown);
    else if (options.get === "keys") for (const key of shown.keys as string[]) print(key);
    else if (typeof shown.place === "string") print(shown.place);
    if (held === false) process.exitCode = ExitCode.refused;
  } finally {
    line.close();
  }
}
