/** What a change of the clock does to one expression, in facts that `cron next` and `cron explain` put in words. */
import type { CronExpression } from "./cron-expression.ts";
import { clockText } from "./local-text.ts";
import type { Transition, Zone } from "./zone.ts";

export interface ClockChange extends Transition {
  readonly kind: "gap" | "overlap";
  /** The expression's local times (seconds) that do not exist, or exist twice; ascending, at most {@link maxTimes}. */
  readonly times: readonly number[];
  /** For a gap: whether the instant of the change is a fire by itself, too. */
  readonly regularAtChange: boolean;
}

/** Enough to be named; more are only "and others". */
export const maxTimes = 4;

/** The changes in [from, to) that touch a local time of the expression, ascending. */
export function changesThatMatter(
  cron: CronExpression,
  zone: Zone,
  fromMs: number,
  toMs: number,
): ClockChange[] {
  return zone
    .transitions(Math.ceil(fromMs / 1000), Math.ceil(toMs / 1000))
    .map((transition) => clockChange(cron, transition))
    .filter((change) => change.times.length > 0);
}

/** How a single fire relates to a change of the clock; nothing for an ordinary one. */
export function fireNote(cron: CronExpression, zone: Zone, fireMs: number): string | undefined {
  const sec = fireMs / 1000;
  const day = 86_400;
  for (const transition of zone.transitions(sec - day, sec + day)) {
    const change = clockChange(cron, transition);
    if (change.kind === "gap" && sec === change.sec && change.times.length > 0) {
      const missing = listTimes(change.times);
      return change.regularAtChange
        ? `also stands for ${missing}, skipped by the clock`
        : `moved: ${missing} is skipped by the clock`;
    }
    const local = sec + zone.offsetAt(sec);
    const repeated =
      local >= transition.sec + transition.offsetAfter && local < transition.sec + transition.offsetBefore;
    if (repeated) return sec < transition.sec ? "first of two" : "second of two";
  }
  return undefined;
}

/** `02:30`, `02:00 and 02:30`, `00:00, 00:15, 00:30 and others`. @param times local seconds */
export function listTimes(times: readonly number[]): string {
  const texts = times.slice(0, maxTimes - 1).map(clockText);
  if (times.length >= maxTimes) return `${texts.join(", ")} and others`;
  return texts.length < 2 ? (texts[0] ?? "") : `${texts.slice(0, -1).join(", ")} and ${texts.at(-1)}`;
}

function clockChange(cron: CronExpression, transition: Transition): ClockChange {
  const { sec, offsetBefore, offsetAfter } = transition;
  const from = sec + Math.min(offsetBefore, offsetAfter);
  const to = sec + Math.max(offsetBefore, offsetAfter);
  const times: number[] = [];
  let time = cron.localTimes.atOrAfter(from);
  while (time < to && times.length < maxTimes) {
    times.push(time);
    time = cron.localTimes.atOrAfter(time + 1);
  }
  const kind = offsetAfter > offsetBefore ? "gap" : "overlap";
  return {
    ...transition,
    kind,
    times,
    regularAtChange: kind === "gap" && cron.localTimes.atOrAfter(to) === to,
  };
}
