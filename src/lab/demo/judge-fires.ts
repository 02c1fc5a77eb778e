/** Judges the executions: every expected fire once, or not run for a reason that its own policy gives. Pure. */
import { formatInstant } from "../../base/instant.ts";
import type { JobDefinition } from "../../spec/job-definition.ts";
import { type ExpectedFire, jobId } from "./expected-fire.ts";
import type { Finding } from "./finding.ts";
import type { RecordedFire } from "./records.ts";

/** The interval, by the store's clock, in which no scheduler and no executor ran. */
export interface StopInterval {
  /** The last process had ended. */
  readonly stoppedMs: number;
  /** The first process was started again. */
  readonly startedMs: number;
  /** The last process was ready. */
  readonly readyMs: number;
}

export interface JudgedFire {
  readonly expected: ExpectedFire;
  readonly record: RecordedFire | null;
  /** `done` on time, `caught-up` after a misfire, `missed` by policy. */
  readonly outcome: "done" | "caught-up" | "missed" | "lost" | "unsettled";
}

export interface FireQuestion {
  readonly expected: readonly ExpectedFire[];
  readonly recorded: readonly RecordedFire[];
  readonly jobs: readonly JobDefinition[];
  readonly stop: StopInterval;
  /** Jobs whose missed fires have raised an alert. */
  readonly alertedJobs: readonly string[];
}

const unfinished: readonly string[] = ["planned", "pending", "running", "interrupted"];

/** One judged fire for each expected one, in the order given. */
export function judgeFires(question: FireQuestion): { fires: JudgedFire[]; findings: Finding[] } {
  const findings: Finding[] = [];
  const records = new Map(question.recorded.map((record) => [keyOf(record), record]));
  if (records.size < question.recorded.length)
    findings.push({ kind: "doubled", what: "the records hold two executions for one job and fire time" });
  const fires = question.expected.map((expected) => {
    const record = records.get(keyOf(expected)) ?? null;
    records.delete(keyOf(expected));
    const job = question.jobs.find((one) => jobId(one) === expected.job)!;
    const fire = { expected, record, outcome: outcomeOf(expected, record, job, question) };
    findings.push(...complaints(fire, job, question));
    return fire;
  });
  for (const record of records.values()) {
    findings.push({
      kind: "unexpected",
      what: `${nameOf(record)} was not due, and is there (${record.status})`,
    });
  }
  for (const job of question.jobs) findings.push(...judgeCatchUp(fires, jobId(job)));
  const missed = new Set(fires.filter((fire) => fire.outcome === "missed").map((fire) => fire.expected.job));
  for (const job of missed) {
    if (!question.alertedJobs.includes(job))
      findings.push({ kind: "lost", what: `${job} missed fires, and no alert says so` });
  }
  return { fires, findings };
}

function outcomeOf(
  expected: ExpectedFire,
  record: RecordedFire | null,
  job: JobDefinition,
  question: FireQuestion,
): JudgedFire["outcome"] {
  if (!record) return "lost";
  if (unfinished.includes(record.status)) return "unsettled";
  if (record.status === "missed" && expected.trigger === "schedule" && mayMiss(job, question.recorded))
    return "missed";
  if (record.status !== "success" || record.shardsSucceeded < expected.shards) return "lost";
  return record.trigger === "misfire" ? "caught-up" : "done";
}

/** Whether the misfire policy of the job ever lets a fire go. */
function mayMiss({ misfire, catchUp, ...job }: JobDefinition, recorded: readonly RecordedFire[]): boolean {
  if (misfire.policy !== "run-now") return true;
  // Only what exceeds the cap on catching up.
  const caughtUp = recorded.filter((one) => one.job === jobId(job) && one.trigger === "misfire");
  return caughtUp.length >= catchUp.maxFires;
}

function complaints(fire: JudgedFire, job: JobDefinition, { stop }: FireQuestion): Finding[] {
  const { expected, record, outcome } = fire;
  const name = nameOf(expected);
  const reason = record?.reason ? `: ${record.reason}` : "";
  switch (outcome) {
    case "lost": {
      if (!record) return [{ kind: "lost", what: `${name} was due, and there is no execution` }];
      const shards = `${record.shardsSucceeded} of ${expected.shards} shards succeeded`;
      return [{ kind: "lost", what: `${name} was due, and is ${record.status} (${shards})${reason}` }];
    }
    case "unsettled":
      return [{ kind: "unsettled", what: `${name} is still ${record!.status}` }];
    case "missed":
      if (expected.fireMs >= stop.stoppedMs - job.misfire.thresholdMs && expected.fireMs <= stop.readyMs)
        return [];
      return [{ kind: "remark", what: `${name} was missed although everything ran${reason}` }];
    default:
      if (record!.shards !== expected.shards)
        return [{ kind: "wrong", what: `${name} has ${record!.shards} shards, not ${expected.shards}` }];
      if (!mustHaveMissed(fire, job, stop)) return [];
      return [{ kind: "policy", what: `${name} ran, although its policy ${job.misfire.policy} forbids it` }];
  }
}

/** It came due while nobody ran, and was too old for its policy when the first process came back. */
function mustHaveMissed({ expected }: JudgedFire, { misfire }: JobDefinition, stop: StopInterval): boolean {
  if (expected.trigger !== "schedule" || expected.fireMs <= stop.stoppedMs) return false;
  const leastLateMs = stop.startedMs - expected.fireMs;
  if (misfire.policy === "skip") return leastLateMs > misfire.thresholdMs;
  return misfire.policy === "within-window" && leastLateMs > misfire.windowMs;
}

/** Oldest first, each after the end of the one before. */
function judgeCatchUp(fires: readonly JudgedFire[], job: string): Finding[] {
  const caughtUp = fires
    .filter((fire) => fire.expected.job === job && fire.outcome === "caught-up")
    .map((fire) => fire.record!);
  return caughtUp.flatMap((record, i) => {
    const before = caughtUp[i - 1];
    if (!before || (before.endedMs ?? 0) <= (record.startedMs ?? 0)) return [];
    return [
      { kind: "order" as const, what: `${nameOf(record)} was caught up before the end of ${nameOf(before)}` },
    ];
  });
}

function keyOf({ job, fireMs }: { job: string; fireMs: number }): string {
  return `${job} ${fireMs}`;
}

function nameOf({ job, fireMs }: { job: string; fireMs: number }): string {
  return `${job} of ${formatInstant(new Date(fireMs))}`;
}
