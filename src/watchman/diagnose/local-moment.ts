/**
 * A time as a person asks about it: an instant with its offset, or a local time
 * of the job's zone, which on the nights when the clock changes may not exist or
 * exist twice.
 */
import { EscapementError } from "../../base/errors.ts";
import { parseInstant } from "../../base/instant.ts";
import { reachSec, zoneOf } from "../../schedule/zone.ts";

export interface Moment {
  /** One instant; two for a time that exists twice; for one that does not exist, the instant of the jump. */
  readonly instants: readonly Date[];
  /** `gap`: the clock jumped over it. `overlap`: it exists twice. */
  readonly clock: "ordinary" | "gap" | "overlap";
}

const local = /^(?:(\d{4}-\d{2}-\d{2})[T ])?(\d{2}):(\d{2})(?::(\d{2}))?$/;

/**
 * @param text RFC 3339 with an offset, `2026-03-29T02:30`, `2026-03-29 02:30`, or `02:30` for the last one before `now`
 * @throws E_BAD_VALUE
 */
export function parseMoment(text: string, zoneName: string, now: Date): Moment {
  const parts = local.exec(text.trim());
  if (!parts) {
    try {
      return { instants: [parseInstant(text.trim())], clock: "ordinary" };
    } catch {
      throw bad(text);
    }
  }
  const [, date, hour, minute, second = "00"] = parts;
  const time = `${hour}:${minute}:${second}`;
  if (date !== undefined) return momentOf(wallSec(`${date}T${time}`, text), zoneName);
  const zone = zoneOf(zoneName);
  const nowSec = Math.floor(now.getTime() / 1000);
  const today = new Date((nowSec + zone.offsetAt(nowSec)) * 1000).toISOString().slice(0, 10);
  const sec = wallSec(`${today}T${time}`, text);
  const moment = momentOf(sec, zoneName);
  return moment.instants[0]! <= now ? moment : momentOf(sec - 86_400, zoneName);
}

/** @param wall local seconds, as if they were UTC */
function momentOf(wall: number, zoneName: string): Moment {
  const zone = zoneOf(zoneName);
  const transitions = zone.transitions(wall - reachSec, wall + reachSec);
  const offsets = new Set([
    zone.offsetAt(wall - reachSec),
    zone.offsetAt(wall + reachSec),
    ...transitions.flatMap(({ offsetBefore, offsetAfter }) => [offsetBefore, offsetAfter]),
  ]);
  const found = [...offsets]
    .map((offset) => wall - offset)
    .filter((sec) => sec + zone.offsetAt(sec) === wall)
    .sort((a, b) => a - b);
  if (found.length > 0)
    return {
      instants: found.map((sec) => new Date(sec * 1000)),
      clock: found.length > 1 ? "overlap" : "ordinary",
    };
  const jump = transitions.find(
    ({ sec, offsetBefore, offsetAfter }) => wall >= sec + offsetBefore && wall < sec + offsetAfter,
  );
  return { instants: [new Date((jump?.sec ?? wall) * 1000)], clock: "gap" };
}

function wallSec(text: string, given: string): number {
  const date = new Date(`${text}Z`);
  if (Number.isNaN(date.getTime()) || !date.toISOString().startsWith(text)) throw bad(given);
  return date.getTime() / 1000;
}

function bad(value: string): EscapementError {
  return new EscapementError("E_BAD_VALUE", {
    option: "TIME",
    value: JSON.stringify(value),
    expected: "a time",
    hint: "write 2026-07-01T02:00:00Z, or a local time of the job's zone: 2026-07-01T02:00, or 02:00 for the last one",
  });
}
