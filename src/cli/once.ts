/** `escapement once`: wrap an existing cron line, so that of several hosts one runs it. */
import { type Command, InvalidArgumentError, Option } from "commander";
import { parseDuration } from "../base/duration.ts";
import { EscapementError, messageOf } from "../base/errors.ts";
import { ExitCode } from "../base/exit-code.ts";
import { defineCommand } from "./command.ts";
import { type GuardUrlOptions, withGuardDatabase, withGuardUrl } from "./guard-url.ts";
import { instantOption } from "./parse-option.ts";
import { say } from "./terminal.ts";

interface Options extends GuardUrlOptions {
  readonly job: string;
  readonly fireTime?: Date;
  readonly period?: string;
  readonly lease: number;
  readonly blocking: "skip" | "wait" | "fail";
  readonly grace: number;
  readonly rerunAfterCrash?: boolean;
  readonly rerunAfterFailure?: boolean;
}

export function build(): Command {
  const command = defineCommand(
    "once",
    "run a command for one fire time or period, on one of several hosts",
    {
      examples: [
        'escapement once --job bonus --period "$(date -u +%Y-%m)" --lease 1m --blocking skip -- /opt/jobs/pay-bonus',
        'escapement once --job settle --fire-time "$(date -u +%Y-%m-%dT%H:%M:00Z)" --lease 30s --blocking wait -- settle --all',
      ],
      exitCodes: [
        ExitCode.ok,
        ExitCode.failed,
        ExitCode.refused,
        ExitCode.unknown,
        ExitCode.badData,
        ExitCode.unavailable,
        ExitCode.interrupted,
      ],
      notes: [
        "0: it ran and succeeded, or it is done, or another host runs it, or it was skipped (--blocking skip).",
        "1: the command failed, now or at an earlier start. 4: refused. 5: a holder died or lost its lease in the",
        "middle, so that nobody knows what was done. 69: the database or the command is not there.",
        "The manual is docs/once.md.",
      ].join("\n"),
    },
  )
    .requiredOption("--job <name>", "name of the job, the same on every host")
    .option("--fire-time <instant>", "the instant it is for, RFC 3339 with zone", instantOption)
    .option("--period <text>", "the business period it is for, for example 2026-07")
    .requiredOption(
      "--lease <duration>",
      "others give the run up this long after the last sign of life; renewed",
      durationOption,
    )
    .addOption(
      new Option("--blocking <policy>", "when an earlier run of this job still runs")
        .choices(["skip", "wait", "fail"])
        .makeOptionMandatory(),
    )
    .addOption(
      new Option("--grace <duration>", "after a signal, time for the command to end before it is killed")
        .argParser(durationOption)
        .default(10_000, "10s"),
    )
    .option("--rerun-after-crash", "run again although an earlier holder died in the middle")
    .option("--rerun-after-failure", "run again although an earlier run failed")
    .option("--quiet", "say nothing when there is nothing to do")
    .argument("<command>", "the program, after --")
    .argument("[args...]", "its arguments");
  return withGuardUrl(command).action(async (program: string, args: string[], options: Options) => {
    const { runOnce } = await import("../guard/once-command.ts");
    outliveReaders();
    const slot = slotOption(options);
    await withGuardDatabase(options, async (db) => {
      process.exitCode = await runOnce(
        db,
        {
          ...slot,
          job: options.job,
          leaseMs: options.lease,
          blocking: options.blocking,
          rerunAfterCrash: options.rerunAfterCrash ?? false,
          rerunAfterFailure: options.rerunAfterFailure ?? false,
          graceMs: options.grace,
          command: program,
          args,
        },
        say,
      );
    });
  });
}

/** A mail program or a full disk that reads no more must not end the run that they only hear about. */
function outliveReaders(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.removeAllListeners("error");
    stream.on("error", () => {});
  }
}

function slotOption(options: Options): { fireTime: Date } | { period: string } {
  if (options.fireTime !== undefined && options.period === undefined) return { fireTime: options.fireTime };
  if (options.period !== undefined && options.fireTime === undefined) return { period: options.period };
  throw new EscapementError("E_USAGE", { what: "say either --fire-time or --period" });
}

function durationOption(text: string): number {
  try {
    return parseDuration(text);
  } catch (error) {
    throw new InvalidArgumentError(`${messageOf(error)}; write for example 30s or 5m.`);
  }
}
