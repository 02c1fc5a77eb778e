/** A schedule in words, with everything about it that may surprise. */
import { formatDuration } from "../base/duration.ts";
import { type ClockChange, changesThatMatter, listTimes } from "./clock-change.ts";
import { type CronExpression, parseCron } from "./cron-expression.ts";
import { parseEvery } from "./every.ts";
import { daysInWords } from "./explain-days.ts";
import { timeInWords } from "./explain-time.ts";
import { everyWarnings, expressionWarnings, type Warning } from "./explain-warnings.ts";
import { clockText, dateText } from "./local-text.ts";
import type { DstGap, DstOverlap } from "./schedule.ts";
import { zoneOf } from "./zone.ts";

export interface ExplainQuestion {
  /** Exactly one of `cron` and `every`. */
  readonly cron?: string;
  readonly every?: string | number;
  /** Without a zone nothing is said about changes of the clock. */
  readonly zone?: string;
  readonly dstGap: DstGap;
  readonly dstOverlap: DstOverlap;
  /** Changes of the clock are looked for in the two years from here. */
  readonly fromMs: number;
}

export interface Explanation {
  /** One sentence. */
  readonly text: string;
  readonly warnings: readonly Warning[];
}

const twoYearsMs = 2 * 366 * 86_400_000;

/** @throws E_CRON_SYNTAX, E_CRON_NEVER, E_ZONE_UNKNOWN */
export function explainSchedule({
  cron,
  every,
  zone,
  dstGap,
  dstOverlap,
  fromMs,
}: ExplainQuestion): Explanation {
  if (cron === undefined) {
    const everyMs = parseEvery(every ?? "");
    const text = `Every ${formatDuration(everyMs)}, counted from 1970-01-01T00:00:00Z; changes of the clock do not matter.`;
    return { text, warnings: everyWarnings(everyMs) };
  }
  const expression = parseCron(cron);
  const sentence = joinTimeAndDays(timeInWords(expression), daysInWords(expression));
  const where = zone === undefined ? "" : zone === "UTC" ? ", in UTC" : `, by the clock of ${zone}`;
  const text = `${sentence[0]!.toUpperCase()}${sentence.slice(1)}${where}.`;
  const changes =
    zone === undefined ? [] : changesThatMatter(expression, zoneOf(zone), fromMs, fromMs + twoYearsMs);
  const changeWarnings = changes.flatMap((change) => changeWarning(expression, change, dstGap, dstOverlap));
  return { text, warnings: [...expressionWarnings(expression, fromMs), ...changeWarnings] };
}

function joinTimeAndDays(time: string, days: string): string {
  if (days !== "every day") return `${time}, ${days}`;
  return /\bevery (second|minute|hour|\d+ (seconds|minutes))\b/.test(time) ? time : `${time} every day`;
}

function changeWarning(
  cron: CronExpression,
  change: ClockChange,
  dstGap: DstGap,
  dstOverlap: DstOverlap,
): Warning[] {
  return change.kind === "gap" ? gapWarning(cron, change, dstGap) : overlapWarning(cron, change, dstOverlap);
}

function gapWarning(cron: CronExpression, change: ClockChange, dstGap: DstGap): Warning[] {
  // An expression for every hour goes on after the jump as if nothing had been.
  const everyHour = cron.hour.values.length === 24;
  if (everyHour && (change.regularAtChange || dstGap === "skip")) return [];
  const from = change.sec + change.offsetBefore;
  const to = change.sec + change.offsetAfter;
  const outcome =
    dstGap === "skip"
      ? "no fire"
      : change.regularAtChange
        ? `one fire at ${clockText(to)} stands for both`
        : `one fire at ${clockText(to)} instead`;
  const text = `on ${dateText(from)} the clock jumps from ${stamp(from, from)} to ${stamp(to, from)}: ${listTimes(change.times)} skipped, ${outcome} (gap ${dstGap})`;
  return [{ code: "dst-gap", text }];
}

function overlapWarning(cron: CronExpression, change: ClockChange, dstOverlap: DstOverlap): Warning[] {
  if (cron.wildcard && cron.hour.values.length === 24) return [];
  const before = change.sec + change.offsetBefore;
  const after = change.sec + change.offsetAfter;
  const outcome = cron.wildcard
    ? "fires both times, since the time has a range, a step or *"
    : dstOverlap === "both"
      ? "fires both times (overlap both)"
      : `fires the ${dstOverlap} time only (overlap ${dstOverlap})`;
  const text = `on ${dateText(after)} the clock is set back from ${stamp(before, after)} to ${stamp(after, after)}: ${listTimes(change.times)} twice, ${outcome}`;
  return [{ code: "dst-overlap", text }];
}

/** The time, with its date where that is another day. */
function stamp(localSec: number, daySec: number): string {
  const date = dateText(localSec);
  return date === dateText(daySec) ? clockText(localSec) : `${date} ${clockText(localSec)}`;
}
