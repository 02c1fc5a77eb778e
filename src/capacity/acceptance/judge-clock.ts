/** The system's time and time zone. */
import { factValue, whyUnknown } from "../../base/fact.ts";
import type { MachineFacts } from "./machine-facts.ts";
import { fail, passIf, unknown, type Verdict } from "./verdict.ts";

/** A daemon that never synchronised tells an offset of 0, or none: it fails all the same. */
export function judgeClockOffset({ ntp }: MachineFacts["clock"], atMostMs: number): Verdict {
  const stratum = factValue(ntp.stratum);
  if (stratum === 0 || /^not synchroni[sz]ed$/i.test(factValue(ntp.leap) ?? ""))
    return fail("the clock is not synchronised");
  const offset = factValue(ntp.offsetSeconds);
  if (offset === undefined) return unknown(whyUnknown(ntp.offsetSeconds));
  if (stratum === undefined) return unknown(whyUnknown(ntp.stratum));
  const ms = Math.abs(offset) * 1_000;
  return passIf(
    ms <= atMostMs,
    `${ms < 1 ? ms.toFixed(3) : ms.toFixed(1)} ms from true time, stratum ${stratum}`,
  );
}

const sameAsUtc = ["UTC", "Etc/UTC", "Universal", "Etc/Universal", "Zulu", "Etc/Zulu", "UCT", "Etc/UCT"];

export function judgeTimeZone({ timeZone }: MachineFacts["clock"], wanted: string): Verdict {
  const name = factValue(timeZone);
  if (name === undefined) return unknown(whyUnknown(timeZone));
  const matches = name === wanted || (sameAsUtc.includes(name) && sameAsUtc.includes(wanted));
  return passIf(matches, `time zone ${name}`);
}
