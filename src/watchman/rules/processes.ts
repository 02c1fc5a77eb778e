/** Processes that should be there: executors and schedulers of the cluster file, and their time-zone data. */
import type { Finding } from "../finding.ts";
import { howLong } from "./missing-success.ts";
import { executorsAreAbsent, type Rule } from "./rule.ts";

/** No executor at all holds a lease: nothing that opens is run. */
export const noExecutor: Rule = (picture, settings) => {
  if (!executorsAreAbsent(picture)) return [];
  // A restart of the only executor is shorter than this.
  const limit = picture.now.getTime() - settings.silentMs;
  const recent = picture.executors.some(
    ({ leaseUntil, state, controlOnly }) =>
      state !== "draining" && !controlOnly && leaseUntil.getTime() > limit,
  );
  if (recent) return [];
  return [
    {
      rule: "no-executor",
      key: "no-executor",
      severity: "critical",
      message: "no executor is alive: what comes due is opened and run by nobody",
      evidence: {
        executors: picture.executors
          .slice(0, 20)
          .map(({ node, state, leaseUntil }) => ({ node, state, leaseUntil })),
      },
      cause: "no-executor",
      hint: "escapement status",
    },
  ];
};

/** An executor of the cluster file whose latest process is gone without a farewell. */
export const executorSilent: Rule = (picture, settings) => {
  const limit = picture.now.getTime() - settings.silentMs;
  const findings: Finding[] = [];
  for (const node of settings.executorNodes) {
    const lives = picture.executors.filter((executor) => executor.node === node);
    if (lives.some(({ leaseUntil }) => leaseUntil.getTime() >= limit)) continue;
    const latest = lives.reduce<(typeof lives)[number] | undefined>(
      (a, b) => (!a || b.leaseUntil > a.leaseUntil ? b : a),
      undefined,
    );
    // Stopped on purpose, or never started: `status` shows both, neither is an accident.
    if (!latest || latest.state === "stopped") continue;
    findings.push({
      rule: "executor-silent",
      key: `executor-silent:${node}`,
      severity: "warning",
      message: `executor ${node} on ${latest.host} has not renewed its lease for ${howLong(picture.now.getTime() - latest.leaseUntil.getTime())}`,
      evidence: { node, host: latest.host, state: latest.state, leaseUntil: latest.leaseUntil },
      cause: `executor:${node}`,
      hint: "escapement status",
    });
  }
  return findings;
};

/** A scheduler that says nothing. With one left the cluster works, and stands on one leg. */
export const schedulerSilent: Rule = (picture, settings) => {
  const limit = picture.now.getTime() - settings.silentMs;
  const findings: Finding[] = [];
  for (const node of settings.schedulerNodes) {
    const lives = picture.schedulers.filter((scheduler) => scheduler.node === node);
    const latest = lives.reduce<(typeof lives)[number] | undefined>(
      (a, b) => (!a || b.lastSeen > a.lastSeen ? b : a),
      undefined,
    );
    if (!latest || latest.stopped || latest.lastSeen.getTime() >= limit) continue;
    findings.push({
      rule: "scheduler-silent",
      key: `scheduler-silent:${node}`,
      severity: "warning",
      message: `scheduler ${node} on ${latest.host} has not been heard of for ${howLong(picture.now.getTime() - latest.lastSeen.getTime())}`,
      evidence: { node, host: latest.host, lastSeen: latest.lastSeen },
      ...(picture.leader.expiresAt < picture.now ? { cause: "no-leader" } : {}),
      hint: "escapement status",
    });
  }
  return findings;
};

/** A living scheduler whose time-zone data are not the cluster's: it will never lead. */
export const timeZoneMismatch: Rule = (picture, settings) => {
  const limit = picture.now.getTime() - settings.silentMs;
  return picture.schedulers
    .filter(
      (scheduler) =>
        !scheduler.stopped &&
        scheduler.lastSeen.getTime() >= limit &&
        picture.timeZoneData !== null &&
        scheduler.timeZoneData !== picture.timeZoneData,
    )
    .map(({ node, timeZoneData }) => ({
      rule: "time-zone-mismatch",
      key: `time-zone-mismatch:${node}`,
      severity: "warning",
      message: `scheduler ${node} has time-zone data ${timeZoneData}, the cluster uses ${picture.timeZoneData}: it will not lead`,
      evidence: { node, its: timeZoneData, clusters: picture.timeZoneData },
      hint: "escapement status",
    }));
};
