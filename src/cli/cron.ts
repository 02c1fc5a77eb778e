/** `escapement cron`: when a schedule fires, and what it says. Needs no store; nothing is changed. */
import { Argument, type Command, Option } from "commander";
import { ExitCode } from "../base/exit-code.ts";
import { formatInstant } from "../base/instant.ts";
import type { DstGap, DstOverlap } from "../schedule/schedule.ts";
import { defineCommand } from "./command.ts";
import { countOption, instantOption } from "./parse-option.ts";
import { paint, print, printJson, say, table } from "./terminal.ts";

interface CronOptions {
  zone?: string;
  from?: Date;
  gap: DstGap;
  overlap: DstOverlap;
  json?: boolean;
}

export function build(): Command {
  const command = defineCommand("cron", "show when a schedule fires, and say it in words", {
    examples: [
      "escapement cron next '30 2 * * *' --zone Europe/Berlin --count 3",
      "escapement cron explain '0 0 L * *'",
    ],
    exitCodes: [ExitCode.ok, ExitCode.badData],
  });
  command.addCommand(buildNext());
  command.addCommand(buildExplain());
  return command;
}

function buildNext(): Command {
  const command = defineCommand("next", "print the coming fires of an expression", {
    examples: [
      "escapement cron next '0 2 * * MON-FRI' --zone UTC --count 10",
      "escapement cron next '30 2 * * *' --zone Europe/Berlin --from 2026-03-27T00:00:00Z --gap skip",
      "escapement cron next 'every 15m' --zone UTC --json",
    ],
    exitCodes: [ExitCode.ok, ExitCode.badData],
  })
    .addArgument(expressionArgument())
    .requiredOption("--zone <zone>", "IANA time zone, for example Europe/Berlin or UTC")
    .option("--count <n>", "how many fires", countOption(1, 100_000), 5);
  return withSharedOptions(command, "show fires after this instant").action(
    async (text: string, options: CronOptions & { zone: string; count: number }) => {
      const { compileSchedule, scheduleFromText } = await import("../schedule/compile.ts");
      const { parseCron } = await import("../schedule/cron-expression.ts");
      const { fireNote } = await import("../schedule/clock-change.ts");
      const { formatInZone } = await import("../schedule/local-text.ts");
      const { tzdataVersion, zoneOf } = await import("../schedule/zone.ts");
      const { zone: zoneName, gap: dstGap, overlap: dstOverlap, count } = options;
      const source = scheduleFromText(text);
      const schedule = compileSchedule({ ...source, zone: zoneName, dstGap, dstOverlap });
      const zone = zoneOf(zoneName);
      const cron = "cron" in source ? parseCron(source.cron) : undefined;
      const { from, fromText } = startOf(options);
      const fires = schedule.between(from.getTime(), Number.MAX_SAFE_INTEGER, count).map((fireMs) => ({
        fireTime: formatInstant(new Date(fireMs)),
        local: formatInZone(fireMs, zone),
        note: cron ? (fireNote(cron, zone, fireMs) ?? null) : null,
      }));
      if (options.json) {
        return printJson({
          expression: text.trim(),
          zone: zoneName,
          tzdata: tzdataVersion,
          gap: dstGap,
          overlap: dstOverlap,
          from: formatInstant(from),
          fires,
        });
      }
      say(
        `after ${formatInstant(from)}${fromText}; gap ${dstGap}, overlap ${dstOverlap}; time-zone data ${tzdataVersion}`,
      );
      const hasNotes = fires.some((fire) => fire.note !== null);
      const rows = fires.map((fire) => [
        fire.fireTime,
        fire.local,
        ...(hasNotes ? [fire.note ? paint.yellow(fire.note) : "-"] : []),
      ]);
      print(table(["fire time (UTC)", zoneName, ...(hasNotes ? ["note"] : [])], rows));
      if (fires.length < count) say(`no more fires before the year 2200`);
    },
  );
}

function buildExplain(): Command {
  const command = defineCommand("explain", "say in words when an expression fires, and warn", {
    examples: [
      "escapement cron explain '0 0 13 * FRI'",
      "escapement cron explain '30 2 * * *' --zone Europe/Berlin",
      "escapement cron explain 'every 7h' --json",
    ],
    exitCodes: [ExitCode.ok, ExitCode.badData],
  })
    .addArgument(expressionArgument())
    .option("--zone <zone>", "IANA time zone; needed for warnings about changes of the clock");
  return withSharedOptions(
    command,
    "look for changes of the clock in the two years after this instant",
  ).action(async (text: string, options: CronOptions) => {
    const { scheduleFromText } = await import("../schedule/compile.ts");
    const { explainSchedule } = await import("../schedule/explain.ts");
    const { zone, gap: dstGap, overlap: dstOverlap } = options;
    const { from } = startOf(options);
    const { text: words, warnings } = explainSchedule({
      ...scheduleFromText(text),
      ...(zone === undefined ? {} : { zone }),
      dstGap,
      dstOverlap,
      fromMs: from.getTime(),
    });
    if (options.json) {
      return printJson({
        expression: text.trim(),
        zone: zone ?? null,
        gap: dstGap,
        overlap: dstOverlap,
        from: formatInstant(from),
        text: words,
        warnings,
      });
    }
    print(words);
    for (const warning of warnings) print(`${paint.yellow("warning")} ${warning.text}`);
    if (zone === undefined) say("changes of the clock were not looked at; name a --zone");
  });
}

function expressionArgument(): Argument {
  return new Argument(
    "<expression>",
    "a cron expression of 5 or 6 fields in quotes, @daily and its like, or 'every 5m'",
  );
}

function withSharedOptions(command: Command, fromMeans: string): Command {
  return command
    .option("--from <instant>", `${fromMeans} (default: now)`, instantOption)
    .addOption(
      new Option("--gap <policy>", "a fixed time skipped when the clock jumps forward")
        .choices(["run-at-transition", "skip"])
        .default("run-at-transition"),
    )
    .addOption(
      new Option("--overlap <policy>", "a fixed time that comes twice when the clock is set back")
        .choices(["first", "second", "both"])
        .default("first"),
    )
    .option("--json", "print one JSON document");
}

/** The one place where this command looks at the clock. */
function startOf({ from }: CronOptions): { from: Date; fromText: string } {
  return from ? { from, fromText: "" } : { from: new Date(), fromText: " (now, by this machine's clock)" };
}
