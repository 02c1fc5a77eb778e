/** What the time daemons of the hosts say of themselves. Apart from the measured offset: a daemon may be content and wrong. */
import type { Finding } from "../finding.ts";
import type { HostTimeSource, Picture } from "../picture.ts";
import type { WatchSettings } from "../settings.ts";
import { howLong } from "./missing-success.ts";
import type { Rule } from "./rule.ts";

/** Asked every minute; five answers have not come. */
const staleMs = 5 * 60_000;

export interface HostAnswer {
  readonly host: string;
  readonly source: HostTimeSource;
}

/** One answer a host: the newest of the living processes on it. */
export function timeSourcesOf(picture: Picture, settings: WatchSettings): readonly HostAnswer[] {
  const limit = picture.now.getTime() - settings.silentMs;
  const living = [
    ...picture.schedulers.filter(({ stopped, lastSeen }) => !stopped && lastSeen.getTime() >= limit),
    ...picture.executors.filter(
      ({ state, leaseUntil }) => state === "active" && leaseUntil.getTime() >= limit,
    ),
  ];
  const byHost = new Map<string, HostAnswer>();
  for (const { host, timeSource: source } of living) {
    if (!source) continue;
    const before = byHost.get(host);
    if (!before || before.source.at < source.at) byHost.set(host, { host, source });
  }
  return [...byHost.values()];
}

export const timeSource: Rule = (picture, settings) => {
  const answers = timeSourcesOf(picture, settings);
  const findings = answers.flatMap(({ host, source }): Finding[] => {
    const problems = problemsOf(source, picture.now, settings);
    if (problems.length === 0) return [];
    return [
      {
        rule: "time-source",
        key: `time-source:${host}`,
        severity: "warning",
        message: `the time service of ${host}: ${problems.join("; ")}`,
        evidence: { host, ...source },
        cause: `clock:${host}`,
        hint: "chronyc sources -v",
      },
    ];
  });
  return [...findings, ...differingLeaps(answers)];
};

function problemsOf(source: HostTimeSource, now: Date, settings: WatchSettings): string[] {
  const ageMs = now.getTime() - source.at.getTime();
  if (ageMs > staleMs) return [`it has not been asked for ${howLong(ageMs)}`];
  if (source.why !== null) return source.wasKnown ? [`it is not known any more: ${source.why}`] : [];
  const problems: string[] = [];
  if (source.isSynchronized === false) problems.push("the clock is not synchronised");
  if (source.reachable !== null && source.reachable < settings.timeSources)
    problems.push(
      `${source.reachable} of ${source.sources} source(s) can be reached, ${settings.timeSources} are wanted`,
    );
  if (source.falsetickers.length > 0)
    problems.push(`${source.falsetickers.join(", ")}: the others say it is wrong`);
  return problems;
}

function differingLeaps(answers: readonly HostAnswer[]): Finding[] {
  const byPolicy = new Map<string, string[]>();
  for (const { host, source } of answers)
    if (source.leapPolicy !== null)
      byPolicy.set(source.leapPolicy, [...(byPolicy.get(source.leapPolicy) ?? []), host]);
  if (byPolicy.size < 2) return [];
  const policies = [...byPolicy].map(([policy, hosts]) => `${policy} on ${hosts.sort().join(", ")}`).sort();
  return [
    {
      rule: "time-source",
      key: "time-source:leap-policy",
      severity: "warning",
      message: `hosts take a leap second in different ways: ${policies.join("; ")}`,
      evidence: { policies: Object.fromEntries(byPolicy) },
      hint: "escapement facts",
    },
  ];
}
