/** The time service of one host, read in one trip: what runs, what it says of itself, and how leap seconds are taken. */
import { factValue, reasonOf, seenOf } from "../../base/fact.ts";
import type { Output } from "../../hardware/output.ts";
import { parseChronyConf } from "../../hardware/parse/chrony-conf.ts";
import { parseChronycSources } from "../../hardware/parse/chronyc-sources.ts";
import { parseChronycTracking } from "../../hardware/parse/chronyc-tracking.ts";
import { parseTimedatectl } from "../../hardware/parse/timedatectl.ts";
import { type Section, sectionScript } from "./host-sections.ts";

export const timeScript = sectionScript(`
section hostname; uname -n
section units
systemctl show chrony.service chronyd.service ntp.service ntpd.service ntpsec.service systemd-timesyncd.service openntpd.service \\
  -p Id -p Names -p LoadState -p ActiveState -p UnitFileState --no-pager 2>&1
section tracking; chronyc -n -c tracking 2>&1
section sources; chronyc -n -c sources 2>&1
section timedatectl; timedatectl show 2>&1
section conf; cat /etc/chrony/chrony.conf /etc/chrony.conf /etc/chrony/conf.d/*.conf /etc/chrony.d/*.conf 2>/dev/null
section zone; readlink -f /etc/localtime
`);

/** Fewer cannot outvote a wrong one. */
const leastSources = 3;
/** What a daemon says of itself may be wrong, but not in its own favour. */
const mostOffsetSeconds = 0.1;

export interface TimeService {
  readonly problems: readonly string[];
  readonly unseen: readonly string[];
  /** What the host calls itself; undefined where it did not say. */
  readonly hostName: string | undefined;
  /** The host's zone; undefined where /etc/localtime leads to none. */
  readonly zone: string | undefined;
  /** chrony's leapsecmode; undefined where no chrony.conf says it. */
  readonly leap: string | undefined;
  readonly summary: string;
}

interface Unit {
  readonly id: string;
  readonly active: boolean;
  readonly enabled: boolean;
}

export function readTimeSections(sections: readonly Section[]): TimeService {
  const output = (title: string): Output => ({
    text: sections.find((section) => section.title === title)?.text ?? "",
    isWhole: true,
  });
  const problems: string[] = [];
  const unseen: string[] = [];
  const units = unitsOf(output("units").text);
  const running = units?.filter(({ active }) => active) ?? [];
  if (!units) unseen.push("systemd does not say which time daemon runs");
  else if (running.length === 0) problems.push("no time daemon runs");
  else if (running.length > 1)
    problems.push(`${running.map(({ id }) => id).join(" and ")} both set the clock`);
  for (const { id, enabled } of running) if (!enabled) problems.push(`${id} would not start after a boot`);
  const isChrony = running.some(({ id }) => id.startsWith("chrony"));
  if (isChrony) chrony(output, problems, unseen);
  else if (running.length > 0)
    problems.push(`${running[0]!.id} does not compare ${leastSources} sources; use chrony`);
  const zone = /zoneinfo\/(?:posix\/|right\/)?([\w+/-]+)\s*$/.exec(output("zone").text)?.[1];
  if (!zone) unseen.push("/etc/localtime leads to no zone");
  const conf = factValue(parseChronyConf(output("conf")));
  if (isChrony && !conf) unseen.push("no chrony.conf can be read: how it takes leap seconds is not known");
  return {
    problems,
    unseen,
    hostName: output("hostname").text.trim() || undefined,
    zone,
    leap: conf?.leapSecondMode,
    summary: `${running.map(({ id }) => id).join(", ") || "no daemon"}, zone ${zone ?? "unknown"}, leap seconds by ${conf?.leapSecondMode ?? "unknown"}`,
  };
}

function chrony(output: (title: string) => Output, problems: string[], unseen: string[]): void {
  const tracking = parseChronycTracking(output("tracking"));
  const shown = parseTimedatectl(output("timedatectl"));
  const synchronised = factValue(tracking.isSynchronized);
  if (synchronised === false) problems.push("the clock is not synchronised");
  else if (synchronised === undefined)
    unseen.push(reasonOf(tracking.isSynchronized) ?? "chronyd says nothing");
  else if (factValue(shown.synchronized) === false)
    problems.push("the kernel does not take the clock for synchronised");
  const offset = factValue(tracking.offsetSeconds);
  if (offset === undefined && synchronised === true)
    unseen.push(`how far off its clock is: ${reasonOf(tracking.offsetSeconds)}`);
  if (offset !== undefined && Math.abs(offset) > mostOffsetSeconds)
    problems.push(`chronyd itself says that the clock is ${offset.toFixed(3)} s off`);
  const sources = parseChronycSources(output("sources"));
  if (!("known" in sources)) return void unseen.push(sources.unknown);
  const usable = seenOf(sources).filter(
    ({ reach, state }) => reach > 0 && state !== "unreachable" && state !== "falseticker",
  );
  if (usable.length < leastSources)
    problems.push(
      `${usable.length} source(s) can be reached, ${leastSources} are needed to outvote a wrong one`,
    );
}

/** Undefined where systemd cannot be asked. One unit may have two names. */
function unitsOf(text: string): Unit[] | undefined {
  if (!/^Id=/m.test(text)) return undefined;
  const units = text.split(/\n\s*\n/).flatMap((block): Unit[] => {
    const get = (key: string) => new RegExp(`^${key}=(.*)$`, "m").exec(block)?.[1] ?? "";
    const id = get("Id");
    if (id === "" || get("LoadState") === "not-found") return [];
    return [
      { id, active: get("ActiveState") === "active", enabled: get("UnitFileState").startsWith("enabled") },
    ];
  });
  return units.filter(({ id }, i) => units.findIndex((unit) => unit.id === id) === i);
}
