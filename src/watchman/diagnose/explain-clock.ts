/** What the clock of the job's zone did around a time, and which fires lie beside it, in sentences. */
import { changesThatMatter, fireNote, listTimes } from "../../schedule/clock-change.ts";
import { parseCron } from "../../schedule/cron-expression.ts";
import { formatInZone } from "../../schedule/local-text.ts";
import { zoneOf } from "../../schedule/zone.ts";
import type { JobDefinition } from "../../spec/job-definition.ts";
import type { Moment } from "./local-moment.ts";

type Timed = Pick<JobDefinition, "schedule" | "timeZone" | "dstGap" | "dstOverlap">;

/** A night on which the clock changes reaches half a day to either side. */
const nightMs = 12 * 3_600_000;

/** What is to be said about the time itself. */
export function momentInWords(clock: Moment["clock"], { timeZone }: Timed, instant: Date): string[] {
  const zone = zoneOf(timeZone);
  const at = formatInZone(Math.floor(instant.getTime() / 1000) * 1000, zone);
  if (clock === "gap")
    return [
      `That time does not exist in ${timeZone}: the clock jumped over it, to ${at}. The answer is for the jump.`,
    ];
  if (clock === "overlap")
    return [`That time exists twice in ${timeZone}, since the clock was set back; this is the one of ${at}.`];
  return [];
}

/** The fires beside the time, and the change of the clock in that night, where there is one. */
export function firesInWords(
  definition: Timed,
  ms: number,
  previousMs: number | null,
  nextMs: number | null,
  matches: boolean,
): string[] {
  const zone = zoneOf(definition.timeZone);
  const text = (fireMs: number) => `${new Date(fireMs).toISOString()} (${formatInZone(fireMs, zone)})`;
  const lines: string[] = [];
  if (previousMs !== null || nextMs !== null)
    lines.push(
      `The fire before it: ${previousMs === null ? "none" : text(previousMs)}; the fire after it: ${nextMs === null ? "none" : text(nextMs)}.`,
    );
  if (definition.schedule.kind !== "cron") return lines;
  const cron = parseCron(definition.schedule.cron);
  const note = matches ? fireNote(cron, zone, ms) : undefined;
  if (note) lines.push(`The clock changed that night; this fire is ${note}.`);
  for (const change of changesThatMatter(cron, zone, ms - nightMs, ms + nightMs)) {
    const jump = text(change.sec * 1000);
    lines.push(
      change.kind === "gap"
        ? `At ${jump} the clock jumped forward; ${listTimes(change.times)} did not exist (gap ${definition.dstGap ?? "run-at-transition"}).`
        : `At ${jump} the clock was set back; ${listTimes(change.times)} came twice (overlap ${definition.dstOverlap ?? "first"}).`,
    );
  }
  return lines;
}
