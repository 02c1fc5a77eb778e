/** Why a job did, or did not, run at a time: from the schedule in force then, the records and what people did. */
import { explainSchedule } from "../../schedule/explain.ts";
import { jobSchedule } from "../../schedule/job-schedule.ts";
import { formatInZone } from "../../schedule/local-text.ts";
import { zoneOf } from "../../schedule/zone.ts";
import type { FireJob, JobVersionRow } from "../../store/diagnose/fire-jobs.ts";
import { expectedFires } from "../expected-fires.ts";
import { classify } from "./classify.ts";
import { type DiagnoseRows, firesOf, watched } from "./diagnose-window.ts";
import type { Diagnosis } from "./diagnosis.ts";
import { firesInWords, momentInWords } from "./explain-clock.ts";
import type { DiagnoseSettings, Fire } from "./fire.ts";
import type { Moment } from "./local-moment.ts";
import { type Pause, pausesOf } from "./pauses.ts";
import { storyOf } from "./story.ts";

export type FireAnswer =
  | "fire"
  | "recorded-without-schedule"
  | "no-fire"
  | "future"
  | "before-known"
  | "forgotten"
  | "paused"
  | "deleted"
  | "manual-only";

export interface FireExplanation {
  readonly job: string;
  readonly time: Date;
  /** The same in the job's zone. */
  readonly local: string;
  readonly zone: string;
  readonly answer: FireAnswer;
  /** Plain sentences, the answer first. */
  readonly sentences: readonly string[];
  /** The definition in force at that time. */
  readonly version: number | null;
  readonly schedule: string | null;
  readonly previousFire: Date | null;
  readonly nextFire: Date | null;
  readonly diagnosis: Diagnosis | null;
  readonly records: Pick<Fire, "execution" | "shards" | "attempts" | "staleWrites">;
  readonly operations: FireJob["operations"];
  readonly next: string | null;
}

/** Operations further from the fire than this have hardly to do with it. */
const nearMs = 86_400_000;

/** @param rows of one job, around the time */
export function explainFire(
  job: FireJob,
  rows: DiagnoseRows,
  time: Date,
  clock: Moment["clock"],
  settings?: DiagnoseSettings,
): FireExplanation {
  const { now, lowWater } = rows.around;
  const version = versionAt(job, time);
  const definition = version.definition;
  const schedule = jobSchedule(definition);
  const ms = time.getTime();
  const fire = firesOf(rows, time, time)[0] ?? emptyFire(job, time);
  const diagnosis = fire.execution || fire.expected ? classify(fire, rows.around, settings) : null;
  const pause = pausesOf(job).find(({ from, to }) => from <= time && (to === null || to >= time));
  const matches = schedule?.matches(ms) ?? false;
  const answer = answerOf({ job, time, now, lowWater, matches, pause, fire, manual: schedule === null });
  const [previousMs, nextMs] = neighbours(
    job,
    time,
    schedule?.previous(ms) ?? null,
    schedule?.next(ms) ?? null,
  );
  const words = scheduleInWords(version, ms);
  const zone = zoneOf(definition.timeZone);
  const local = formatInZone(Math.floor(ms / 1000) * 1000, zone);
  const operations = job.operations.filter(({ at, fireTime }) =>
    fireTime ? fireTime.getTime() === ms : Math.abs(at.getTime() - ms) <= nearMs,
  );
  const sentences = [
    ...momentInWords(clock, definition, time),
    ...opening(answer, { job, pause, time, now, lowWater, local, fire }),
    ...storyOf(fire, diagnosis, now),
    ...(words ? [`${versionWords(version, answer)} (applied by ${version.appliedBy}): ${words}`] : []),
    // Before a job was known there were no fires, whatever its schedule says of that time.
    ...(answer === "before-known" ? [] : firesInWords(definition, ms, previousMs, nextMs, matches)),
    ...operations.map(
      ({ at, person, action, reason }) => `${at.toISOString()}: ${person} did ${action}, because: ${reason}.`,
    ),
  ];
  return {
    job: job.job,
    time,
    local,
    zone: definition.timeZone,
    answer,
    sentences,
    version: version.version,
    schedule: words,
    previousFire: previousMs === null ? null : new Date(previousMs),
    nextFire: nextMs === null ? null : new Date(nextMs),
    diagnosis,
    records: {
      execution: fire.execution,
      shards: fire.shards,
      attempts: fire.attempts,
      staleWrites: fire.staleWrites,
    },
    operations,
    next: diagnosis?.next ?? null,
  };
}

/** The version by which a fire at that instant was planned; before the first one, the first. */
function versionAt(job: FireJob, time: Date): JobVersionRow {
  return job.versions.findLast(({ effectiveFrom }) => effectiveFrom < time) ?? job.versions[0]!;
}

function versionWords({ version }: JobVersionRow, answer: FireAnswer): string {
  return answer === "before-known"
    ? `No version was in force then; the first one is version ${version}`
    : `Version ${version} was in force`;
}

interface Question {
  readonly job: FireJob;
  readonly time: Date;
  readonly now: Date;
  readonly lowWater: Date;
  readonly pause: Pause | undefined;
  readonly fire: Fire;
}

function answerOf(question: Question & { readonly matches: boolean; readonly manual: boolean }): FireAnswer {
  const { job, time, now, lowWater, matches, pause, fire, manual } = question;
  const ran = fire.execution !== null && fire.execution.revokedAt === null;
  if (ran) return matches ? (time > now ? "future" : "fire") : "recorded-without-schedule";
  if (time < lowWater) return "forgotten";
  if (time <= job.knownSince) return "before-known";
  if (job.state === "deleted" && time > job.stateSince) return "deleted";
  if (manual) return "manual-only";
  if (!matches) return "no-fire";
  if (pause) return "paused";
  return time > now ? "future" : "fire";
}

function opening(answer: FireAnswer, question: Question & { readonly local: string }): string[] {
  const { job, time, now, lowWater, pause, local, fire } = question;
  const at = `${time.toISOString()} (${local})`;
  const revoked = fire.execution?.revokedAt
    ? [
        `It had been planned, and was taken back at ${fire.execution.revokedAt.toISOString()}: ${fire.execution.reason}.`,
      ]
    : [];
  switch (answer) {
    case "fire":
      return [`${job.job} was due at ${at}.`];
    case "recorded-without-schedule":
      return [
        fire.execution!.trigger === "manual"
          ? `${job.job} was run by hand for ${at}; its schedule has no fire then.`
          : `${job.job} has an execution for ${at}, although the schedule in force has no fire then: it came from another version.`,
      ];
    case "no-fire":
      return [`${job.job} did not run at ${at}, because that is no fire of its schedule.`, ...revoked];
    case "future":
      return [`${at} lies in the future: it is now ${now.toISOString()}. It is a fire of ${job.job}.`];
    case "before-known":
      return [
        `${job.job} did not run at ${at}: the job is known only since ${job.knownSince.toISOString()}. Nothing before that is its business; backfill runs it on demand.`,
      ];
    case "forgotten":
      return [
        `The records from before ${lowWater.toISOString()} were dropped; nobody can tell what happened at ${at}, and it will not be run again.`,
      ];
    case "paused": {
      const end = pause?.to ? `until ${pause.to.toISOString()}` : "and still is";
      return [
        `${job.job} did not run at ${at}, because it was paused: from ${pause!.from.toISOString()} ${end}${job.stateReason && !pause?.to ? ` (${job.stateReason})` : ""}.`,
        ...revoked,
      ];
    }
    case "deleted":
      return [
        `${job.job} did not run at ${at}: it was deleted at ${job.stateSince.toISOString()}.`,
        ...revoked,
      ];
    case "manual-only":
      return [`${job.job} did not run at ${at}: it has no schedule, only people run it.`];
  }
}

function neighbours(
  job: FireJob,
  time: Date,
  previous: number | null,
  next: number | null,
): [previous: number | null, next: number | null] {
  const ms = time.getTime();
  // Across an edit the neighbours come from different versions; a year is far enough for every calendar schedule.
  const found = previous === null ? [] : expectedFires(watched(job), previous - 1, ms - 1);
  return [found.at(-1) ?? previous, next];
}

function scheduleInWords({ definition }: JobVersionRow, fromMs: number): string | null {
  const { schedule, timeZone, dstGap, dstOverlap } = definition;
  if (schedule.kind === "manual") return null;
  return explainSchedule({
    ...(schedule.kind === "cron" ? { cron: schedule.cron } : { every: schedule.everyMs }),
    zone: timeZone,
    dstGap: dstGap ?? "run-at-transition",
    dstOverlap: dstOverlap ?? "first",
    fromMs,
  }).text;
}

function emptyFire({ jobId, job }: FireJob, fireTime: Date): Fire {
  const nothing = { execution: null, shards: [], attempts: [], staleWrites: [], calls: null };
  const unheard = { kills: [], lastWords: [] };
  const alone = { inTheWay: null, twins: [] };
  return {
    jobId,
    job,
    fireTime,
    expected: false,
    version: null,
    passed: false,
    ...nothing,
    ...unheard,
    ...alone,
  };
}
