/** The clock of a host: its source, its zone, and whether something keeps it right. */
import { type Fact, factValue, firstKnown, isKnown, known, mapFact, unknown } from "../../base/fact.ts";
import type { ClockFacts, NtpFacts, NtpSource } from "../clock-facts.ts";
import { linesOf } from "../output.ts";
import { parseChronyConf } from "../parse/chrony-conf.ts";
import { parseChronycSources } from "../parse/chronyc-sources.ts";
import { parseChronycTracking } from "../parse/chronyc-tracking.ts";
import { parseClockSource } from "../parse/kernel.ts";
import { parseAdjtime } from "../parse/system.ts";
import { parseTimedatectl } from "../parse/timedatectl.ts";
import type { SectionReader } from "./section-reader.ts";

export function clockOf(reader: SectionReader): ClockFacts {
  const clock = reader.read("clock-source", parseClockSource);
  const shown = reader.read("timedatectl", parseTimedatectl);
  return {
    source: clock.source,
    available: clock.available,
    timeZone: firstKnown(shown.timeZone, zoneOf(reader)),
    rtcLocal: firstKnown(shown.rtcLocal, adjtimeOf(reader)),
    ntp: ntpOf(reader),
  };
}

/** The target of the link /etc/localtime below zoneinfo, or the name in /etc/timezone. */
function zoneOf(reader: SectionReader): Fact<string> {
  const output = reader.output("zone");
  if (typeof output === "string") return unknown("/etc/localtime is no link");
  const text = output.text.trim();
  const name =
    /zoneinfo\/(?:posix\/|right\/)?([\w+/-]+)$/.exec(text)?.[1] ?? /^[A-Z][\w+/-]*$/.exec(text)?.[0];
  return name ? known(name) : unknown("/etc/localtime leads to no zone");
}

function adjtimeOf(reader: SectionReader): Fact<boolean> {
  // Without the file hwclock and systemd take the hardware clock as UTC.
  if (/no such file/i.test(reader.frame.sections.get("adjtime")?.complaint ?? "")) return known(false);
  return reader.read("adjtime", parseAdjtime);
}

const daemonNames: Readonly<Record<string, string>> = { "systemd-timesyn": "systemd-timesyncd" };

function ntpOf(reader: SectionReader): NtpFacts {
  const tracking = reader.read("chronyc-tracking", parseChronycTracking);
  const sources = reader.read("chronyc-sources", parseChronycSources);
  const daemons = reader.read("time-daemons", (output): Fact<string> => {
    if (!output.isWhole) return unknown("the processes were not listed");
    const names = [...new Set(linesOf(output).filter(Boolean))].map((name) => daemonNames[name] ?? name);
    return known(names.length === 0 ? "none" : names.sort().join(" and "));
  });
  const daemon = factValue(daemons);
  const isOther = daemon !== undefined && daemon !== "none" && !daemon.includes("chronyd");
  const other = unknown(`${daemon} does not tell it here`);
  return {
    daemon: daemons,
    running: isKnown(daemons)
      ? known(daemon !== "none" || factValue(tracking.isSynchronized) === true)
      : tracking.running,
    stratum: isOther ? other : tracking.stratum,
    leap: isOther ? other : tracking.leap,
    offsetSeconds: isOther ? other : tracking.offsetSeconds,
    sources: isOther ? other : sources,
    reach: isOther
      ? other
      : mapFact(sources as Fact<readonly NtpSource[]>, bestReach, "chronyd has no sources"),
    configuration: reader.read("chrony-conf", parseChronyConf),
  };
}

/** The selected source's reach; where none is selected, the best there is. */
export function bestReach(sources: readonly NtpSource[]): number | undefined {
  const selected = sources.find((one) => one.state === "selected");
  if (selected) return selected.reach;
  return sources.length === 0 ? undefined : Math.max(...sources.map((one) => one.reach));
}
