/**
 * What this folder must know about time zones: whether a name is known, and
 * whether its clocks will change. Firing is computed elsewhere.
 */
import { closest } from "./closest.ts";

/** How far ahead a change of the clocks is looked for. Five years see every yearly rule and Ramadan pauses. */
const horizonDays = 5 * 366;
const dayMs = 86_400_000;

/** IANA names of three letters. Node reads others in its own way: BST as Bangladesh, IST as India. */
const threeLetterZones = /^(UTC|UCT|GMT|CET|EET|MET|WET|EST|MST|HST|PRC|ROC|ROK)$/;

const known = new Map<string, boolean>();

/** True for an IANA name; false for an offset such as `+02:00`, which has no rules, for an abbreviation, and for wrong letter case. */
export function isKnownZone(name: string): boolean {
  let answer = known.get(name);
  if (answer === undefined) {
    answer = probe(name);
    // Thousands of jobs share a few zones; wrong names are not worth keeping.
    if (answer) known.set(name, answer);
  }
  return answer;
}

function probe(name: string): boolean {
  if (!/^[A-Za-z]/.test(name) || (name.length === 3 && !threeLetterZones.test(name))) return false;
  try {
    const canonical = new Intl.DateTimeFormat("en-US", { timeZone: name }).resolvedOptions().timeZone;
    return canonical === name || canonical.toLowerCase() !== name.toLowerCase();
  } catch {
    return false;
  }
}

/** The known zone that was probably meant: by spelling, or by its city alone. */
export function closestZone(name: string): string | undefined {
  const zones = ["UTC", ...Intl.supportedValuesOf("timeZone")];
  const city = name.replaceAll(" ", "_").toLowerCase();
  return zones.find((zone) => zone.toLowerCase().endsWith(`/${city}`)) ?? closest(name, zones);
}

const changes = new Map<string, Date | null>();

/**
 * The day (00:00 UTC) by which the zone's offset will have
 * changed for the first time after `now`; null when no change is known for five years.
 */
export function nextOffsetChange(zone: string, now: Date): Date | null {
  const today = Math.floor(now.getTime() / dayMs);
  const cacheKey = `${zone} ${today}`;
  const before = changes.get(cacheKey);
  if (before !== undefined) return before;
  const format = new Intl.DateTimeFormat("en-US", { timeZone: zone, timeZoneName: "longOffset" });
  const offset = (day: number) =>
    format.formatToParts(day * dayMs).find((part) => part.type === "timeZoneName")?.value;
  const start = offset(today);
  let found: Date | null = null;
  for (let day = today; day <= today + horizonDays && !found; day += 4) {
    if (offset(day) === start) continue;
    let first = day;
    while (first > today && offset(first - 1) !== start) first--;
    found = new Date(first * dayMs);
  }
  changes.set(cacheKey, found);
  return found;
}
