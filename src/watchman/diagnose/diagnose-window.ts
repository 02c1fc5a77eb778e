/** Every fire of a window put together from the rows, and judged. */

import type { FireJob } from "../../store/diagnose/fire-jobs.ts";
import type {
  FireAttempt,
  FireExecution,
  FireShard,
  FireStaleWrite,
} from "../../store/diagnose/fire-rows.ts";
import type { CallCount } from "../../store/diagnose/open-effects.ts";
import type { Surroundings } from "../../store/diagnose/surroundings.ts";
import { definitionAt, expectedFires, whyUnreadable } from "../expected-fires.ts";
import { classify } from "./classify.ts";
import type { Diagnosis } from "./diagnosis.ts";
import { type DiagnoseSettings, defaultDiagnoseSettings, type Fire } from "./fire.ts";
import type { LastWords } from "./job-log.ts";
import type { MemoryKill } from "./oom-journal.ts";
import { pausesOf } from "./pauses.ts";

export interface DiagnoseRows {
  readonly jobs: readonly FireJob[];
  /** Ascending by fire time. */
  readonly executions: readonly FireExecution[];
  readonly shards: readonly FireShard[];
  readonly attempts: readonly FireAttempt[];
  readonly staleWrites: readonly FireStaleWrite[];
  readonly calls: readonly CallCount[];
  /** From kernel messages, where somebody has brought them. */
  readonly kills?: readonly MemoryKill[];
  /** From the log of the one job that is looked at, where somebody has brought it. */
  readonly lastWords?: readonly LastWords[];
  readonly around: Surroundings;
}

export interface WindowDiagnosis {
  /** Fires that were looked at: expected ones and recorded ones. */
  readonly fires: number;
  /** By fire time, then by job. */
  readonly diagnoses: readonly Diagnosis[];
  /** Definitions in force in the window of which nobody can say here when they fire: only their recorded fires were judged. */
  readonly unreadable: readonly UnreadableDefinition[];
}

export interface UnreadableDefinition {
  /** `namespace/name`. */
  readonly job: string;
  readonly version: number;
  readonly reason: string;
}

/** Judges the fires in [from, to]. Pure. */
export function diagnoseWindow(
  rows: DiagnoseRows,
  from: Date,
  to: Date,
  settings: DiagnoseSettings = defaultDiagnoseSettings,
): WindowDiagnosis {
  const fires = firesOf(rows, from, to);
  const diagnoses = fires
    .map((fire) => classify(fire, rows.around, settings))
    .filter((one) => one !== null)
    .sort((a, b) => a.fireTime.getTime() - b.fireTime.getTime() || (a.job < b.job ? -1 : 1));
  return { fires: fires.length, diagnoses, unreadable: unreadableOf(rows.jobs, from, to) };
}

function unreadableOf(jobs: readonly FireJob[], from: Date, to: Date): UnreadableDefinition[] {
  return jobs.flatMap((job) =>
    watched(job).definitions.flatMap((definition, i, all) => {
      const inForce = definition.effectiveFrom <= to && (all[i + 1]?.effectiveFrom ?? to) >= from;
      const reason = inForce ? whyUnreadable(definition) : null;
      return reason === null ? [] : [{ job: job.job, version: definition.version, reason }];
    }),
  );
}

/** All fires in [from, to], those that the definitions alone know of included. */
export function firesOf(rows: DiagnoseRows, from: Date, to: Date): Fire[] {
  const executions = groupBy(rows.executions, ({ jobId }) => `${jobId}`);
  const keyed = {
    shards: groupBy(rows.shards, keyOf),
    attempts: groupBy(rows.attempts, keyOf),
    staleWrites: groupBy(rows.staleWrites, keyOf),
  };
  const calls = new Map(rows.calls.map((one) => [one.prefix, one]));
  return rows.jobs.flatMap((job) => {
    const own = executions.get(`${job.jobId}`) ?? [];
    const byHand = job.versions.at(-1)?.definition.period
      ? []
      : own.filter(({ trigger, status }) => trigger === "manual" && status === "success");
    const byTime = new Map(own.map((one) => [one.fireTime.getTime(), one]));
    const toMs = Math.min(to.getTime(), rows.around.now.getTime());
    const fromMs = Math.max(from.getTime(), rows.around.lowWater.getTime());
    const judged = watched(job);
    const expected = new Set(expectedFires(judged, fromMs - 1, toMs));
    const times = new Set([...expected, ...byTime.keys()]);
    return [...times]
      .filter((ms) => ms >= from.getTime() && ms <= to.getTime())
      .map((ms) => {
        const execution = byTime.get(ms) ?? null;
        const key = `${job.jobId}:${ms}`;
        return {
          jobId: job.jobId,
          job: job.job,
          fireTime: new Date(ms),
          expected: expected.has(ms),
          version: definitionAt(judged, ms)?.version ?? null,
          passed: ms <= job.plannedUntil.getTime(),
          execution,
          shards: keyed.shards.get(key) ?? [],
          attempts: keyed.attempts.get(key) ?? [],
          kills: rows.kills ?? [],
          lastWords: (rows.lastWords ?? []).filter(({ fireTime }) => fireTime.getTime() === ms),
          staleWrites: keyed.staleWrites.get(key) ?? [],
          calls: calls.get(callPrefix(job.job, ms, execution)) ?? null,
          inTheWay: inTheWayOf(own, ms),
          twins: twinsOf(byHand, ms, expected),
        };
      });
  });
}

/** What the keys of an execution's calls begin with. */
export function callPrefix(job: string, fireMs: number, execution: FireExecution | null): string {
  return `${job}/${execution?.periodKey ?? new Date(fireMs).toISOString()}`;
}

/** A job as the evaluator of expected fires wants it. */
export function watched(job: FireJob): Parameters<typeof expectedFires>[0] {
  return {
    state: job.state,
    stateSince: job.stateSince,
    knownSince: job.knownSince,
    pauses: pausesOf(job),
    definitions: job.versions.map(({ definition, ...version }) => ({ ...definition, ...version })),
  };
}

/** How far back an earlier execution is looked for. */
const searched = 50;

/** The newest earlier execution that had been opened and had not ended when this fire came due. */
function inTheWayOf(own: readonly FireExecution[], fireMs: number): FireExecution | null {
  let [low, high] = [0, own.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (own[middle]!.fireTime.getTime() < fireMs) low = middle + 1;
    else high = middle;
  }
  return (
    own
      .slice(Math.max(0, low - searched), low)
      .findLast(
        ({ openedAt, revokedAt, endedAt }) =>
          openedAt !== null && revokedAt === null && (endedAt === null || endedAt.getTime() > fireMs),
      ) ?? null
  );
}

/** Successful runs by hand after this fire and before the next one; nothing for a job with a period. */
function twinsOf(
  byHand: readonly FireExecution[],
  fireMs: number,
  expected: ReadonlySet<number>,
): FireExecution[] {
  if (byHand.length === 0 || !expected.has(fireMs)) return [];
  const next = [...expected].find((ms) => ms > fireMs) ?? Number.POSITIVE_INFINITY;
  return byHand.filter(({ fireTime }) => fireTime.getTime() > fireMs && fireTime.getTime() < next);
}

function keyOf({ jobId, fireTime }: { readonly jobId: number; readonly fireTime: Date }): string {
  return `${jobId}:${fireTime.getTime()}`;
}

function groupBy<Row>(rows: readonly Row[], key: (row: Row) => string): Map<string, Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const group = groups.get(key(row));
    if (group) group.push(row);
    else groups.set(key(row), [row]);
  }
  return groups;
}
