/** What the demo has seen, for machines: flat rows, instants as text, names with units. */
import { formatInstant } from "../../base/instant.ts";
import type { DemoResult } from "../../lab/demo/demo-result.ts";
import type { JudgedFire } from "../../lab/demo/judge-fires.ts";
import type { LostAttempt } from "../../lab/demo/records.ts";

export function resultJson(result: DemoResult): Record<string, unknown> {
  const { leaderKill, executorKill, stop, misfire, fires, tookMs, ...rest } = result;
  const { successor } = leaderKill;
  return {
    tookMs: Math.round(tookMs),
    ...rest,
    leaderKill: {
      ...leaderKill,
      atMs: Math.round(leaderKill.atMs),
      successor: successor && {
        ...successor,
        ledAfterMs: Math.round(successor.ledAfterMs),
        plannedAfterMs: rounded(successor.plannedAfterMs),
      },
    },
    executorKill: executorKill && {
      ...executorKill,
      atMs: Math.round(executorKill.atMs),
      putBackAfterMs: rounded(executorKill.putBackAfterMs),
      lost: executorKill.lost.map(lostRow),
    },
    stop: {
      atMs: Math.round(stop.atMs),
      stoppedAt: instant(stop.stoppedMs),
      startedAt: instant(stop.startedMs),
      readyAt: instant(stop.readyMs),
    },
    misfire,
    fires: fires.map(fireRow),
  };
}

function fireRow({ expected, record, outcome }: JudgedFire): Record<string, unknown> {
  return {
    job: expected.job,
    fireTime: instant(expected.fireMs),
    period: expected.period,
    byHand: expected.trigger === "by-hand",
    outcome,
    executionId: record?.executionId ?? null,
    status: record?.status ?? null,
    shardsExpected: expected.shards,
    shardsSucceeded: record?.shardsSucceeded ?? 0,
    shardsRetried: record?.shardsRetried ?? 0,
    attempts: record?.attempts ?? 0,
    startedAt: record?.startedMs == null ? null : instant(record.startedMs),
    missedSeconds: record?.missedSeconds ?? null,
    epoch: record?.epoch ?? null,
    reason: record?.reason ?? null,
  };
}

function lostRow({ fireMs, ...attempt }: LostAttempt): Record<string, unknown> {
  return { ...attempt, fireTime: instant(fireMs) };
}

function instant(ms: number): string {
  return formatInstant(new Date(ms));
}

function rounded(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms);
}
