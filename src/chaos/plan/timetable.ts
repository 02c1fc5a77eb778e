/**
 * The weekly times of a timetable's drills. Day and minute are drawn from the
 * seed, so they look random, stay the same, and are plain data in the job.
 * Pure.
 */
import { createHash } from "node:crypto";
import { EscapementError } from "../../base/errors.ts";
import type {
  DrillScheduleDefinition,
  ScheduledDrill,
  Weekday,
} from "../../spec/drill-schedule-definition.ts";

export interface DrillSlot {
  readonly entry: ScheduledDrill;
  readonly weekday: Weekday;
  /** From local midnight. */
  readonly minute: number;
}

/**
 * One slot a drill, in the order of the file: days in turn from a drawn one on, the
 * minute drawn, moved on where another drill of that day could still be at work.
 * A drill added at the end moves none before it.
 * @throws E_BAD_DATA when the office hours are too short for all of them
 */
export function drillSlots(schedule: DrillScheduleDefinition): DrillSlot[] {
  const { officeHours, seed, drills, timeoutMs } = schedule;
  const { weekdays, fromMinute, toMinute } = officeHours;
  const length = Math.ceil(timeoutMs / 60_000);
  const starts = toMinute - length - fromMinute + 1;
  const slots: DrillSlot[] = [];
  const firstDay = draw([seed, schedule.name, "day"], weekdays.length);
  for (const [i, entry] of drills.entries()) {
    const minute = starts > 0 ? draw([seed, schedule.name, drillKey(entry)], starts) : 0;
    const slot = freeSlot();
    if (!slot)
      throw new EscapementError("E_BAD_DATA", {
        what: `timetable ${schedule.name}: there is no time for ${drillKey(entry)} on ${weekdays.length} day(s) between ${clock(fromMinute)} and ${clock(toMinute)}`,
        hint: `each drill may take ${length} minutes (spec.timeout) and is alone; widen officeHours or list fewer drills`,
      });
    slots.push(slot);

    function freeSlot(): DrillSlot | undefined {
      for (let step = 0; step < weekdays.length; step++) {
        const weekday = weekdays[(firstDay + i + step) % weekdays.length]!;
        for (let move = 0; move < starts; move++) {
          const at = fromMinute + ((minute + move) % starts);
          const isFree = slots.every(
            (other) => other.weekday !== weekday || Math.abs(other.minute - at) >= length,
          );
          if (isFree) return { entry, weekday, minute: at };
        }
      }
      return undefined;
    }
  }
  return slots;
}

/** `stop-primary/crash`, or the drill's name alone. */
export function drillKey({ drill, variant }: ScheduledDrill): string {
  return variant === undefined ? drill : `${drill}/${variant}`;
}

/** Five fields, in the timetable's zone. */
export function slotCron({ weekday, minute }: DrillSlot): string {
  return `${minute % 60} ${Math.floor(minute / 60)} * * ${weekday}`;
}

function draw(parts: readonly string[], below: number): number {
  const hash = createHash("sha256").update(JSON.stringify(parts)).digest();
  return hash.readUInt32BE(0) % below;
}

/** `10:05`. */
export function clock(minute: number): string {
  const two = (value: number) => String(value).padStart(2, "0");
  return `${two(Math.floor(minute / 60))}:${two(minute % 60)}`;
}
