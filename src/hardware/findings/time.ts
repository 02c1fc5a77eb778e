/** The clock: is it right, does anything keep it right, and can it jump. Thresholds: docs/facts.md. */
import { factValue, reasonOf } from "../../base/fact.ts";
import type { HostFacts } from "../host-facts.ts";
import { bad, good, unjudged, type Verdict } from "./verdict.ts";

/** Offsets in seconds from which a clock is worth a line, a warning, an alarm. */
export const offsetLimits = { info: 0.02, warning: 0.1, critical: 0.5 } as const;
/** Fewer answered polls than this, of the last 8, and a source is as good as gone. */
export const leastReach = 3;
/** With three sources one that lies can be outvoted. */
export const leastSources = 3;

export function timeFindings(host: HostFacts): Verdict[] {
  return [
    synchronised(host),
    ...offset(host),
    ...reach(host),
    ...sources(host),
    ...daemons(host),
    ...makestep(host),
    clockSource(host),
    rtc(host),
    zone(host),
  ];
}

function synchronised({ clock: { ntp } }: HostFacts): Verdict {
  const id = "clock-not-synchronised";
  const [stratum, leap] = [factValue(ntp.stratum), factValue(ntp.leap)];
  const action =
    "start chronyd, check that its sources answer (chronyc sources) and that UDP 123 is let through";
  if (factValue(ntp.running) === false)
    return bad(id, "critical", {
      reason: "no time daemon is running, so the clock drifts",
      action,
      evidence: `daemon: ${factValue(ntp.daemon) ?? "chronyd does not answer"}`,
    });
  if (stratum === 0 || leap === "Not synchronised")
    return bad(id, "critical", {
      reason: "the time daemon runs and has never got the time, although it prints an offset of 0",
      action,
      evidence: `stratum ${stratum ?? "unknown"}, leap status ${leap ?? "unknown"}`,
    });
  if (stratum !== undefined && stratum < 16 && leap !== undefined)
    return good(id, `stratum ${stratum}, leap status ${leap}`);
  return unjudged(id, reasonOf(ntp.stratum) ?? reasonOf(ntp.leap) ?? `stratum ${stratum} is no stratum`);
}

function offset({ clock: { ntp } }: HostFacts): Verdict[] {
  const id = "clock-offset";
  const seconds = factValue(ntp.offsetSeconds);
  if (seconds === undefined) return [unjudged(id, reasonOf(ntp.offsetSeconds) ?? "")];
  const size = Math.abs(seconds);
  const evidence = `${(seconds * 1_000).toFixed(3)} ms from true time`;
  const severity = (["critical", "warning", "info"] as const).find((one) => size >= offsetLimits[one]);
  if (severity === undefined) return [good(id, evidence)];
  return [
    bad(id, severity, {
      reason:
        severity === "critical"
          ? "the clock is so wrong that a scheduler here must give up the virtual address"
          : "the clock is further from true time than a healthy host's",
      action:
        "look at chronyc sources and the network; let chronyd slew, do not step the clock under running jobs",
      evidence,
    }),
  ];
}

function reach({ clock: { ntp } }: HostFacts): Verdict[] {
  const id = "ntp-reach";
  const answered = factValue(ntp.reach);
  if (answered === undefined) return [unjudged(id, reasonOf(ntp.reach) ?? "")];
  if (answered >= leastReach) return [good(id, `${answered} of the last 8 polls answered`)];
  return [
    bad(id, "warning", {
      reason: "the time source hardly answers any more",
      action: "check the network path to the source and add others",
      evidence: `${answered} of the last 8 polls answered`,
    }),
  ];
}

function sources({ clock: { ntp } }: HostFacts): Verdict[] {
  const id = "ntp-few-sources";
  const list = factValue(ntp.sources);
  if (list === undefined) {
    const reason = reasonOf(ntp.sources);
    return [unjudged(id, reason ?? "")];
  }
  const answering = list.filter(
    (one) => one.reach > 0 && one.state !== "unreachable" && one.state !== "falseticker",
  );
  const evidence = `${answering.length} of ${list.length} sources usable`;
  if (answering.length >= leastSources) return [good(id, evidence)];
  return [
    bad(id, "warning", {
      reason: "with fewer than three usable time sources a wrong one cannot be outvoted",
      action: "name at least four servers in chrony.conf and set minsources 2",
      evidence,
    }),
  ];
}

function daemons({ clock: { ntp } }: HostFacts): Verdict[] {
  const id = "two-time-daemons";
  const daemon = factValue(ntp.daemon);
  if (daemon === undefined) return [unjudged(id, reasonOf(ntp.daemon) ?? "")];
  if (!daemon.includes(" and ")) return [good(id, daemon)];
  return [
    bad(id, "warning", {
      reason: "two daemons set the same clock against each other",
      action: "disable and mask all but chronyd",
      evidence: daemon,
    }),
  ];
}

function makestep({ clock: { ntp } }: HostFacts): Verdict[] {
  const id = "clock-may-step";
  const daemon = factValue(ntp.daemon);
  if (daemon !== undefined && !daemon.includes("chronyd")) return [];
  const read = factValue(ntp.configuration);
  if (read === undefined) return [unjudged(id, reasonOf(ntp.configuration) ?? "")];
  if (read.makestep === undefined || read.makestep.limit >= 0) {
    // The file of a daemon that perhaps is not the one that runs is no good news.
    if (daemon === undefined) return [unjudged(id, reasonOf(ntp.daemon) ?? "")];
    return [
      good(id, read.makestep ? `makestep only in the first ${read.makestep.limit} updates` : "no makestep"),
    ];
  }
  return [
    bad(id, "warning", {
      reason: "chrony may make the clock jump at any time, not only at start",
      action: "write makestep 0.1 3 and start the scheduler after chrony-wait.service",
      evidence: `makestep ${read.makestep.thresholdSeconds} ${read.makestep.limit}`,
    }),
  ];
}

const slowSources = ["hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit"];

function clockSource({ clock }: HostFacts): Verdict {
  const id = "slow-clock-source";
  const source = factValue(clock.source);
  if (source === undefined) return unjudged(id, reasonOf(clock.source) ?? "");
  if (!slowSources.includes(source)) return good(id, source);
  return bad(id, "warning", {
    reason: "every reading of the clock takes many times longer than with tsc",
    action: "look in dmesg why tsc was given up; update the firmware, then boot with tsc",
    evidence: `${source} in use, available: ${factValue(clock.available)?.join(" ") ?? "unknown"}`,
  });
}

function rtc({ clock }: HostFacts): Verdict {
  const id = "rtc-in-local-time";
  const isLocal = factValue(clock.rtcLocal);
  if (isLocal === undefined) return unjudged(id, reasonOf(clock.rtcLocal) ?? "");
  if (!isLocal) return good(id, "the hardware clock keeps UTC");
  return bad(id, "warning", {
    reason:
      "the hardware clock keeps local time, so a boot near a change of summer time starts an hour wrong",
    action: "timedatectl set-local-rtc 0",
    evidence: "RTC in local time zone",
  });
}

/** Names of the zone that is UTC all year. */
export const utcNames = [
  "UTC",
  "Etc/UTC",
  "Universal",
  "Etc/Universal",
  "Zulu",
  "Etc/Zulu",
  "UCT",
  "Etc/UCT",
];

function zone({ clock }: HostFacts): Verdict {
  const id = "time-zone-not-utc";
  const name = factValue(clock.timeZone);
  if (name === undefined) return unjudged(id, reasonOf(clock.timeZone) ?? "");
  if (utcNames.includes(name)) return good(id, name);
  return bad(id, "warning", {
    reason:
      "the host's time zone is not UTC, so its logs and cron lines shift twice a year or against other hosts",
    action: "timedatectl set-timezone UTC; jobs name their own zone",
    evidence: name,
  });
}
