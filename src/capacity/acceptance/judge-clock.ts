/** The system's time and time zone. */
import { fail, passIf, type Reading, unknown, type Verdict } from "./verdict.ts";

/** @param tracking `chronyc -n -c tracking`: a daemon that never synchronised prints an offset of 0. */
export function judgeClockOffset(tracking: Reading, atMostMs: number): Verdict {
  const text = tracking.text?.trim();
  if (!text) return unknown(tracking.reason || "chronyc printed nothing");
  const fields = text.split("\n").at(-1)!.split(",");
  const [stratum, offset, leap] = [Number(fields[2]), Number(fields[4]), fields[13]];
  if (fields.length < 14 || !Number.isFinite(offset))
    return unknown(`chronyc printed ${JSON.stringify(text.slice(0, 80))}`);
  if (stratum === 0 || leap === "Not synchronised") return fail("the clock is not synchronised");
  const ms = Math.abs(offset) * 1_000;
  return passIf(
    ms <= atMostMs,
    `${ms < 1 ? ms.toFixed(3) : ms.toFixed(1)} ms from true time, stratum ${stratum}`,
  );
}

const sameAsUtc = ["UTC", "Etc/UTC", "Universal", "Etc/Universal", "Zulu", "Etc/Zulu", "UCT", "Etc/UCT"];

/** @param zone the name of the system's time zone */
export function judgeTimeZone(zone: Reading, wanted: string): Verdict {
  const name = zone.text?.trim();
  if (!name) return unknown(zone.reason || "the system names no time zone");
  const matches = name === wanted || (sameAsUtc.includes(name) && sameAsUtc.includes(wanted));
  return passIf(matches, `time zone ${name}`);
}
