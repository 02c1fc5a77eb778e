/**
 * The offset changes of an IANA time zone, found by asking Intl for the offset of each day and halving the
 * days on which it differs. Found once, kept for the life of the process, and only for the years asked about.
 */
import { EscapementError } from "../base/errors.ts";
import { secondsPerDay, yearStart } from "./calendar.ts";
import { suggestZone, unslashedZones } from "./zone-names.ts";

/** The time-zone data this process uses, for example `2025c`. Schedulers that differ in it must not share work. */
export const tzdataVersion: string = process.versions.tz ?? "unknown";

/** Schedules answer for instants from here (1970) … */
export const horizonStartSec = 0;
/** … up to here (2200), exclusive. Rules further off are guesses anyway. */
export const horizonEndSec = yearStart(2200) * secondsPerDay;

/** How far around an instant a change of offset can matter; the largest one known is 24 hours (Apia 2011). */
export const reachSec = 2 * secondsPerDay;
/** Least number of days asked about at once; a few milliseconds. */
const stepDays = 4 * 366;
const firstDay = horizonStartSec / secondsPerDay - 8;
const lastDay = horizonEndSec / secondsPerDay + 8;

/** A change of offset: `sec` is the first instant with the new one. */
export interface Transition {
  readonly sec: number;
  readonly offsetBefore: number;
  readonly offsetAfter: number;
}

const zones = new Map<string, Zone>();

/**
 * The zone of that name.
 * @throws E_ZONE_UNKNOWN with the nearest name. Abbreviations such as IST or BST are unknown: they mean
 * several zones. So are other spellings (europe/berlin): other programs on the host would read UTC.
 */
export function zoneOf(name: string): Zone {
  let zone = zones.get(name);
  if (!zone) {
    zone = new Zone(name);
    zones.set(name, zone);
  }
  return zone;
}

/** True if the zone's offset changes within five years of the instant, so that the DST policies matter. */
export function hasTransitionsAhead(name: string, fromMs: number): boolean {
  const from = Math.floor(fromMs / 1000);
  return zoneOf(name).transitions(from, from + 5 * 366 * secondsPerDay).length > 0;
}

/** Offsets are seconds east of UTC; instants are seconds since the Unix epoch. */
export class Zone {
  readonly name: string;
  /** Segment i goes from starts[i] to starts[i + 1]; the first is open to the left, the last to the right. */
  readonly starts: number[] = [];
  readonly offsets: number[] = [];
  readonly #format: Intl.DateTimeFormat | undefined;
  /** Days [builtFrom, builtTo) are known. */
  #builtFrom: number;
  #builtTo: number;
  #lastIndex = 0;

  constructor(name: string) {
    this.name = name;
    this.#format = isUtc(name) ? undefined : openZone(name);
    this.#builtFrom = firstDay;
    this.#builtTo = this.#format ? firstDay : lastDay;
    if (!this.#format) {
      this.starts.push(Number.NEGATIVE_INFINITY);
      this.offsets.push(0);
    }
  }

  /** Makes sure that every change near the instants is known. @returns how many segments came in before the first */
  cover(fromSec: number, toSec: number): number {
    const from = Math.max(firstDay, Math.floor((fromSec - reachSec) / secondsPerDay));
    const to = Math.min(lastDay, Math.ceil((toSec + reachSec) / secondsPerDay));
    if (from >= this.#builtFrom && to <= this.#builtTo) return 0;
    if (this.#builtFrom === this.#builtTo) this.#begin(Math.max(firstDay, from - 366));
    if (to > this.#builtTo) this.#append(Math.min(lastDay, Math.max(to, this.#builtTo + stepDays)));
    return from < this.#builtFrom
      ? this.#prepend(Math.max(firstDay, Math.min(from, this.#builtFrom - stepDays)))
      : 0;
  }

  /** The segment that holds the instant. The instant must be covered. Quick for instants near the last one asked. */
  indexAt(sec: number): number {
    const { starts } = this;
    const last = this.#lastIndex;
    if (sec >= starts[last]! && (last + 1 === starts.length || sec < starts[last + 1]!)) return last;
    this.#lastIndex = this.indexFarFrom(sec);
    return this.#lastIndex;
  }

  /** As {@link indexAt}, for an instant that the next question will not be about. */
  indexFarFrom(sec: number): number {
    const { starts } = this;
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (starts[middle]! <= sec) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  offsetAt(sec: number): number {
    this.cover(sec, sec);
    return this.offsets[this.indexAt(sec)]!;
  }

  /** The changes in [from, to), ascending; within the horizon. */
  transitions(fromSec: number, toSec: number): Transition[] {
    this.cover(fromSec, toSec);
    const found: Transition[] = [];
    for (let i = 1; i < this.starts.length; i++) {
      const sec = this.starts[i]!;
      if (sec >= fromSec && sec < toSec) {
        found.push({ sec, offsetBefore: this.offsets[i - 1]!, offsetAfter: this.offsets[i]! });
      }
    }
    return found;
  }

  #begin(day: number): void {
    this.#builtFrom = day;
    this.#builtTo = day;
    this.starts.push(Number.NEGATIVE_INFINITY);
    this.offsets.push(this.#probe(day * secondsPerDay));
  }

  #append(toDay: number): void {
    const changes = this.#changes(this.#builtTo, toDay);
    for (const change of changes) {
      this.starts.push(change.sec);
      this.offsets.push(change.offsetAfter);
    }
    this.#builtTo = toDay;
  }

  #prepend(fromDay: number): number {
    const changes = this.#changes(fromDay, this.#builtFrom);
    this.#builtFrom = fromDay;
    if (changes.length === 0) return 0;
    this.starts[0] = changes.at(-1)!.sec;
    this.starts.unshift(Number.NEGATIVE_INFINITY, ...changes.slice(0, -1).map((change) => change.sec));
    this.offsets.unshift(...changes.map((change) => change.offsetBefore));
    this.#lastIndex = 0;
    return changes.length;
  }

  #changes(fromDay: number, toDay: number): Transition[] {
    const found: Transition[] = [];
    let before = this.#probe(fromDay * secondsPerDay);
    for (let day = fromDay + 1; day <= toDay; day++) {
      const after = this.#probe(day * secondsPerDay);
      if (after === before) continue;
      let low = (day - 1) * secondsPerDay;
      let high = day * secondsPerDay;
      while (high - low > 1) {
        const middle = Math.floor((low + high) / 2);
        if (this.#probe(middle) === before) low = middle;
        else high = middle;
      }
      found.push({ sec: high, offsetBefore: before, offsetAfter: after });
      before = after;
    }
    return found;
  }

  #probe(sec: number): number {
    const text = this.#format!.format(sec * 1000);
    const match = /GMT(?:([+-])(\d{2}):(\d{2})(?::(\d{2}))?)?$/.exec(text);
    if (!match)
      throw new EscapementError("E_BUG", {
        what: `the offset of ${this.name} reads ${JSON.stringify(text)}`,
      });
    const [, sign, hours, minutes, seconds] = match;
    if (sign === undefined) return 0;
    const size = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds ?? 0);
    return sign === "-" ? -size : size;
  }
}

function isUtc(name: string): boolean {
  return name === "UTC" || name === "Etc/UTC";
}

function openZone(name: string): Intl.DateTimeFormat {
  const slashed =
    /^[A-Z][A-Za-z0-9_+-]*(\/[A-Z][A-Za-z0-9_+-]*)+$/.test(name) && !name.startsWith("SystemV/");
  if (slashed || unslashedZones.has(name)) {
    try {
      return new Intl.DateTimeFormat("en-US", {
        timeZone: name,
        timeZoneName: "longOffset",
        year: "numeric",
      });
    } catch {
      // Not known to this Node: reported below.
    }
  }
  const near = suggestZone(name);
  throw new EscapementError("E_ZONE_UNKNOWN", {
    zone: JSON.stringify(name),
    suggestion: near === undefined ? "" : `; did you mean ${near}?`,
  });
}
