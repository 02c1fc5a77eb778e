/** `escapement alerts silence` and `unsilence`: nobody is told of what fits, for a time. */
import { type Command, InvalidArgumentError } from "commander";
import { parseDuration } from "../../base/duration.ts";
import { EscapementError, messageOf } from "../../base/errors.ts";
import { ExitCode } from "../../base/exit-code.ts";
import { formatInstant } from "../../base/instant.ts";
import type { AlertMatch } from "../../spec/watch-definition.ts";
import { namesSomething } from "../../spec/watch-match-schema.ts";
import { defineCommand } from "../command.ts";
import { countOption, instantOption } from "../parse-option.ts";
import { type DeedOptions, deedOf, withDeedOptions } from "../person.ts";
import { type StoreOptions, withStore, withStoreOptions } from "../store-url.ts";
import { print, printJson } from "../terminal.ts";

interface SilenceOptions extends StoreOptions, DeedOptions {
  readonly severity?: ("info" | "warning" | "critical")[];
  readonly rule?: string[];
  readonly job?: string[];
  readonly key?: string[];
  readonly for?: number;
  readonly until?: Date;
  readonly json?: boolean;
}

/** A silence that outlives its reason hides the next trouble. */
const longestMs = 30 * 86_400_000;

export function buildSilence(): Command {
  const command = defineCommand("silence", "tell nobody of the alerts that fit, until it ends by itself", {
    examples: [
      "escapement alerts silence --job 'payroll/*' --for 2h --reason 'move to db-2' --cluster cluster.yaml",
      "escapement alerts silence --rule no-leader --until 2026-07-01T04:00:00Z --reason 'upgrade'",
    ],
    exitCodes: [ExitCode.ok, ExitCode.unavailable],
    notes:
      "What is named must all fit; a * stands for any characters. What is still open at the end is told then.",
  })
    .option("--severity <severity...>", "info, warning or critical", severityOption)
    .option("--rule <rule...>", "names of rules")
    .option("--job <job...>", "namespace/name of jobs")
    .option("--key <key...>", "keys of alerts")
    .option("--for <duration>", "how long from now, at most 30d", durationOption)
    .option("--until <instant>", "up to this instant", instantOption)
    .option("--json", "print one JSON document");
  return withDeedOptions(withStoreOptions(command)).action(async (options: SilenceOptions) => {
    const { addSilence } = await import("../../store/watch/silence.ts");
    const { recordOperation } = await import("../../store/operation.ts");
    const { readStoreTime } = await import("../../store/store-time.ts");
    const { describeMatch } = await import("../../spec/alert-match.ts");
    const deed = deedOf(options);
    const match = matchOf(options);
    await withStore(options, async (db) => {
      const until = endOf(options, await readStoreTime(db));
      const silenceId = await db.transaction(async (tx) => {
        const id = await addSilence(tx, { match, until, reason: deed.reason, by: deed.person });
        await recordOperation(tx, {
          ...deed,
          action: "silence-alerts",
          after: { silenceId: id, match, until },
        });
        return id;
      });
      if (options.json) printJson({ silenceId, match, until });
      else print(`silence ${silenceId}: ${describeMatch(match)}, until ${formatInstant(until)}`);
    });
  });
}

export function buildUnsilence(): Command {
  const command = defineCommand("unsilence", "end a silence before its time", {
    examples: ["escapement alerts unsilence 12 --reason 'done early'"],
    exitCodes: [ExitCode.ok, ExitCode.refused, ExitCode.unavailable],
    notes: "Those of the watch file end there.",
  })
    .argument("<id>", "the number that escapement alerts list shows", countOption(1))
    .option("--json", "print one JSON document");
  return withDeedOptions(withStoreOptions(command)).action(
    async (silenceId: number, options: StoreOptions & DeedOptions & { json?: boolean }) => {
      const { endSilence } = await import("../../store/watch/silence.ts");
      const { recordOperation } = await import("../../store/operation.ts");
      const deed = deedOf(options);
      await withStore(options, async (db) => {
        await db.transaction(async (tx) => {
          if (!(await endSilence(tx, silenceId)))
            throw new EscapementError("E_REFUSED", {
              what: `no silence ${silenceId} is in force`,
              hint: "escapement alerts list shows those that are",
            });
          await recordOperation(tx, { ...deed, action: "unsilence-alerts", before: { silenceId } });
        });
        if (options.json) printJson({ silenceId });
        else print(`silence ${silenceId}: ended`);
      });
    },
  );
}

function matchOf({ severity, rule, job, key }: SilenceOptions): AlertMatch {
  for (const [option, names] of Object.entries({ rule, job, key }))
    if (names?.some((name) => name.trim() === ""))
      throw new EscapementError("E_USAGE", { what: `--${option} names nothing: it is empty` });
  const match = {
    ...(severity && { severity }),
    ...(rule && { rule }),
    ...(job && { job }),
    ...(key && { key }),
  };
  if (namesSomething(match)) return match;
  throw new EscapementError("E_USAGE", {
    what: "name what shall be silent: --severity, --rule, --job or --key; a * alone names everything",
  });
}

function endOf(options: SilenceOptions, now: Date): Date {
  if ((options.for === undefined) === (options.until === undefined))
    throw new EscapementError("E_USAGE", { what: "give either --for or --until" });
  const until = options.until ?? new Date(now.getTime() + options.for!);
  const lengthMs = until.getTime() - now.getTime();
  if (lengthMs > 0 && lengthMs <= longestMs) return until;
  throw new EscapementError("E_BAD_VALUE", {
    option: options.until ? "--until" : "--for",
    value: formatInstant(until),
    expected: "within the next 30 days",
    hint: `the store's clock says ${formatInstant(now)}`,
  });
}

const severities = ["info", "warning", "critical"];

function severityOption(text: string, before: string[] | undefined): string[] {
  if (!severities.includes(text))
    throw new InvalidArgumentError(`It must be one of ${severities.join(", ")}.`);
  return [...(before ?? []), text];
}

function durationOption(text: string): number {
  try {
    return parseDuration(text);
  } catch (error) {
    throw new InvalidArgumentError(`${messageOf(error)}.`);
  }
}
