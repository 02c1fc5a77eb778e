/** Why an attempt ended as it did, read from its row. The texts are those that executors and the store write. */
import type { FireAttempt } from "../../store/diagnose/fire-rows.ts";
import type { Cause } from "./diagnosis.ts";
import { attemptEvidence, type Fire } from "./fire.ts";
import { type Reading, reading } from "./reading.ts";

/** Ended from outside, in the middle of its work: not by a decision of the program itself. */
const killing: ReadonlySet<Cause> = new Set([
  "lease-lost",
  "oom-kill",
  "timeout",
  "executor-stopped",
  "deploy-overlap",
]);

export function isKilled(attempt: FireAttempt): boolean {
  return killing.has(causeOfAttempt(attempt).cause);
}

/** Given back by a host that cannot run it: no try was used up, so it goes round for ever. */
export function isRefusedByHost(attempt: FireAttempt): boolean {
  return attempt.outcome === "interrupted" && causeOfAttempt(attempt).cause === "cannot-start";
}

/** 128 + SIGKILL, as a shell or a container runtime passes it on. */
const killedCode = 137;

/** What a shell ends with where it cannot run a program; so does the one that starts jobs in scopes. */
const unrunCodes: Readonly<Record<number, string>> = { 126: "may not be run", 127: "is not there" };

const locks =
  /lock[ _]timeout|deadlock|could not obtain lock|lock wait|canceling statement due to lock|database is locked/i;

/** How far the host's clock and the database's may lie apart when their entries are compared. */
const journalSlackMs = 10_000;

/** What others have written about the attempts of a fire, where somebody has brought it. */
export type Heard = Pick<Fire, "kills" | "lastWords">;

const nothingHeard: Heard = { kills: [], lastWords: [] };

export function causeOfAttempt(attempt: FireAttempt, { kills, lastWords }: Heard = nothingHeard): Reading {
  const error = attempt.error ?? "";
  const evidence = [attemptEvidence(attempt)];
  const on = attempt.node === null ? "" : ` on ${attempt.node}`;
  const what = `attempt ${attempt.attempt} of shard ${attempt.shardNo}${on}`;
  if (attempt.outcome === "lease-expired" || /lease could not be renewed|executor gone/.test(error))
    return reading("lease-lost", true, `the lease of the executor ended while it ran ${what}`, evidence);
  if (/^timed out after/.test(error))
    return reading("timeout", true, `${what} was killed at the job's timeout (${error})`, evidence);
  if (attempt.outcome === "cancelled") return reading("cancelled", true, `${what} was cancelled`, evidence);
  if (/executor stopped|supervisor of its executor died/.test(error))
    return reading("executor-stopped", true, `the executor was stopped during ${what}`, evidence);
  if (/cannot be started|this host/.test(error))
    return reading("cannot-start", true, `${what} could not be started: ${error}`, evidence);
  const said =
    lastWords.find((one) => one.shardNo === attempt.shardNo && one.attempt === attempt.attempt)?.lines ?? [];
  const locked = [error, ...said].find((line) => locks.test(line));
  if (locked !== undefined) {
    const log = said.includes(locked) ? [{ from: "job log", row: { line: locked } }] : [];
    return reading("lock-wait", true, `${what} waited for a lock: ${locked}`, [...evidence, ...log]);
  }
  if (attempt.exitCode === killedCode || /killed by SIGKILL/.test(error)) {
    const kill = kills.find(({ at }) => Math.abs(at.getTime() - attempt.endedAt.getTime()) <= journalSlackMs);
    return reading(
      "oom-kill",
      kill !== undefined,
      kill
        ? `the kernel of ${kill.host || "the host"} killed ${what} for want of memory`
        : `${what} was killed by SIGKILL, and not by the executor: most often the kernel, out of memory`,
      kill ? [...evidence, { from: "journal", row: { ...kill } }] : evidence,
    );
  }
  if (attempt.outcome === "interrupted")
    return reading(
      "executor-stopped",
      false,
      `${what} was given back (${error || "no reason given"})`,
      evidence,
    );
  const last = said.at(-1);
  const words = last === undefined ? "" : `; its last words: ${last}`;
  const heard = last === undefined ? evidence : [...evidence, { from: "job log", row: { line: last } }];
  const unrun = unrunCodes[attempt.exitCode ?? 0];
  if (unrun !== undefined) {
    const because = `${what} ended with exit code ${attempt.exitCode}, as where a program ${unrun}${words}`;
    return reading("cannot-start", false, because, heard);
  }
  const how = error || `exit code ${attempt.exitCode ?? "not known"}`;
  return reading("job-error", true, `${what} ended by itself: ${how}${words}`, heard);
}
