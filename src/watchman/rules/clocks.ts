/**
 * Clocks that are wrong. No fire depends on them; people, logs and certificates
 * do, and a clock that is off by minutes says that something is broken. A host
 * is called wrong only by what is left after the error of the measurement.
 */
import type { Finding, Severity } from "../finding.ts";
import type { ClockReading, Picture } from "../picture.ts";
import type { WatchSettings } from "../settings.ts";
import { instant, type Rule } from "./rule.ts";

/** Steps older than this are history. */
const stepShownMs = 60 * 60_000;

export const clockOffset: Rule = (picture, settings) => {
  const off = picture.clocks.filter((clock) => atLeast(clock) > settings.clockWarnMs);
  if (off.length === 0) return [];
  // All hosts agree with each other and not with the database: then it is the one that is off.
  const offsets = picture.clocks.map(({ offsetMs }) => offsetMs);
  const hosts = new Set(picture.clocks.map(({ host }) => host));
  const agree = Math.max(...offsets) - Math.min(...offsets) <= settings.clockWarnMs;
  if (hosts.size >= 3 && agree) return [storeIsOff(picture, settings)];
  return off.map((clock) => hostIsOff(clock, settings));
};

/** The two schedulers against each other, apart from the database and from what NTP says. */
export const schedulerClocks: Rule = (picture, settings) => {
  const pair = picture.clocks.filter(({ part }) => part === "scheduler");
  const findings: Finding[] = [];
  for (const [i, a] of pair.entries()) {
    for (const b of pair.slice(i + 1)) {
      const apartMs = Math.abs(a.offsetMs - b.offsetMs) - a.errorMs - b.errorMs;
      // What is wrong with one of them alone is said by `clock-offset`.
      if (apartMs <= settings.clockWarnMs || [a, b].some((clock) => atLeast(clock) > settings.clockWarnMs))
        continue;
      findings.push({
        rule: "clock-offset",
        key: `clock-offset:${[a.node, b.node].sort().join("+")}`,
        severity: severityOf(apartMs, settings),
        message: `the clocks of schedulers ${a.node} and ${b.node} are ${Math.round(apartMs)} ms apart`,
        evidence: { a, b, apartMs },
        cause: `clock:${a.node}`,
        hint: "escapement facts",
      });
    }
  }
  return findings;
};

export const clockStep: Rule = (picture) => {
  const since = picture.now.getTime() - stepShownMs;
  return picture.clockSteps
    .filter(({ at }) => at.getTime() >= since)
    .map((step) => ({
      rule: "clock-step",
      key: `clock-step:${step.part}:${step.node}:${instant(step.at.getTime())}`,
      severity: "critical",
      message:
        step.part === "store"
          ? `the database's clock stepped by ${seconds(step.offsetMs)} at ${instant(step.at.getTime())}; fires are decided by it`
          : `the clock of ${step.node} stepped by ${seconds(step.offsetMs)} at ${instant(step.at.getTime())}`,
      evidence: { ...step },
      cause: step.part === "store" ? "clock:store" : `clock:${step.node}`,
      hint: "escapement status",
    }));
};

/** What the time service of the watchman's own host says, where it can be asked. */
export const clockSource: Rule = (picture) => {
  const source = picture.clockSource;
  if (!source || source.problems.length === 0) return [];
  return [
    {
      rule: "clock-source",
      key: `clock-source:${source.node}`,
      severity: "warning",
      message: `the time service of ${source.node}: ${source.problems.join("; ")}`,
      evidence: { ...source },
      cause: `clock:${source.node}`,
      hint: "chronyc tracking",
    },
  ];
};

function atLeast(clock: ClockReading): number {
  return Math.abs(clock.offsetMs) - clock.errorMs;
}

function severityOf(offMs: number, settings: WatchSettings): Severity {
  return offMs > settings.clockCriticalMs ? "critical" : "warning";
}

function hostIsOff(clock: ClockReading, settings: WatchSettings): Finding {
  const offMs = atLeast(clock);
  const leads = clock.part === "scheduler" && offMs > settings.clockRefuseMs;
  const leaves = clock.part === "scheduler" && offMs > settings.clockCriticalMs;
  const effect = leads
    ? ": it yields the lead to a healthier standby"
    : leaves
      ? ": it leaves the virtual address"
      : "";
  return {
    rule: "clock-offset",
    key: `clock-offset:${clock.part}:${clock.node}`,
    severity: severityOf(offMs, settings),
    message: `the clock of ${clock.part} ${clock.node} on ${clock.host} is ${seconds(clock.offsetMs)} off the database's${effect}`,
    evidence: { ...clock },
    cause: `clock:${clock.host}`,
    hint: "escapement facts",
  };
}

function storeIsOff(picture: Picture, settings: WatchSettings): Finding {
  const middle = picture.clocks.map(({ offsetMs }) => offsetMs).sort((a, b) => a - b)[
    picture.clocks.length >> 1
  ]!;
  return {
    rule: "clock-offset",
    key: "clock-offset:store",
    severity: severityOf(Math.abs(middle), settings),
    message: `all ${picture.clocks.length} processes agree that the database's clock is ${seconds(-middle)} off`,
    evidence: { clocks: picture.clocks },
    cause: "clock:store",
    hint: "escapement status",
  };
}

function seconds(ms: number): string {
  return `${ms > 0 ? "+" : ""}${(ms / 1000).toFixed(3)} s`;
}
