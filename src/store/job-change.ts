/**
 * Changing a job: apply, pause, resume, delete.
 *
 *   (none) ──apply──▶ active ──pause──▶ paused
 *                      ▲ │ ◀──resume──┘   │
 *                apply │ └────delete──────┴──▶ deleted
 *                      └───────────────────────┘
 *
 * Each change holds the job's row lock and takes back, in the same transaction,
 * what was planned for the future and is not open yet. What is due, open or
 * running goes on under the definition it was planned with.
 */
import { EscapementError } from "../base/errors.ts";
import { jobSchedule } from "../schedule/job-schedule.ts";
import type { JobDefinition } from "../spec/job-definition.ts";
import { shardCount } from "../spec/shard-count.ts";
import { raiseAlert } from "./alert.ts";
import type { Database, Queryable } from "./database.ts";
import { findJob, type JobRow, type JobState, jobLabel } from "./job.ts";
import { type Deed, recordOperation } from "./operation.ts";

export type ApplyOutcome = "created" | "changed" | "revived" | "unchanged";

export interface AppliedJob {
  readonly jobId: number;
  readonly outcome: ApplyOutcome;
  readonly version: number;
  /** Planned executions that were taken back; the scheduler plans them anew by the new definition. */
  readonly revoked: number;
}

/**
 * Applies one definition; the same one again changes nothing.
 * @throws E_REFUSED when the shard count changes while executions of the job are alive
 */
export async function applyJob(
  db: Database,
  definition: JobDefinition,
  digest: string,
  deed: Deed,
): Promise<AppliedJob> {
  return db.transaction(async (tx) => {
    const before = await lockJob(tx, definition);
    if (!before) return createJob(tx, definition, digest, deed);
    if (before.state !== "deleted" && before.digest === digest) {
      return { jobId: before.jobId, outcome: "unchanged", version: before.version, revoked: 0 };
    }
    const refusal = await refusalOf(tx, before, definition);
    if (refusal) throw new EscapementError("E_REFUSED", refusal);
    const revoked = await revoke(tx, before.jobId, `the definition was changed by ${deed.person}`);
    const version = before.version + 1;
    await insertVersion(tx, before.jobId, version, definition, digest, deed);
    const revived = before.state === "deleted";
    await tx.query(
      `UPDATE escapement.job SET version = $2,
         planned_until = CASE WHEN $3 THEN v.effective_from ELSE least(planned_until, v.effective_from) END,
         known_since = CASE WHEN $3 THEN v.effective_from ELSE known_since END,
         state = CASE WHEN $3 THEN 'active' ELSE state END, state_since = CASE WHEN $3 THEN v.effective_from ELSE state_since END
       FROM escapement.job_version v WHERE job.job_id = $1 AND v.job_id = $1 AND v.version = $2`,
      [before.jobId, version, revived],
    );
    await recordOperation(tx, {
      ...deed,
      action: "jobs apply",
      jobId: before.jobId,
      before: { version: before.version, digest: before.digest },
      after: { version, digest, revoked },
    });
    return { jobId: before.jobId, outcome: revived ? "revived" : "changed", version, revoked };
  });
}

/** Why a definition may not replace the one in force now; null when it may. */
export async function refusalOf(
  db: Queryable,
  before: JobRow,
  definition: JobDefinition,
): Promise<{ what: string; hint: string } | null> {
  const [from, to] = [shardCount(before.definition), shardCount(definition)];
  if (from === to) return null;
  const { rows } = await db.query<{ count: number }>(
    "SELECT count(*)::integer AS count FROM escapement.execution_live WHERE job_id = $1 AND (state <> 'planned' OR due_at <= clock_timestamp())",
    [before.jobId],
  );
  const alive = rows[0]?.count ?? 0;
  if (alive === 0) return null;
  return {
    what: `${jobLabel(definition)} has ${alive} live execution(s); its shard count cannot go from ${from} to ${to} meanwhile`,
    hint: "pause the job, wait until its executions have ended, then apply again: keys move between shards when their number changes",
  };
}

async function createJob(
  tx: Queryable,
  definition: JobDefinition,
  digest: string,
  deed: Deed,
): Promise<AppliedJob> {
  const { rows } = await tx.query<{ jobId: number }>(
    `INSERT INTO escapement.job (namespace, name, ancestor, state, version, known_since, planned_until)
     VALUES ($1, $2, (SELECT job_id FROM escapement.job WHERE namespace = $1 AND name = $3), 'active', 1,
       date_trunc('milliseconds', clock_timestamp()), date_trunc('milliseconds', clock_timestamp()))
     RETURNING job_id AS "jobId"`,
    [definition.namespace, definition.name, definition.ancestor ?? null],
  );
  const jobId = rows[0]!.jobId;
  await insertVersion(tx, jobId, 1, definition, digest, deed);
  await tx.query(
    `UPDATE escapement.job j SET known_since = v.effective_from, planned_until = v.effective_from
     FROM escapement.job_version v WHERE j.job_id = $1 AND v.job_id = $1 AND v.version = 1`,
    [jobId],
  );
  await recordOperation(tx, { ...deed, action: "jobs apply", jobId, after: { version: 1, digest } });
  return { jobId, outcome: "created", version: 1, revoked: 0 };
}

async function insertVersion(
  tx: Queryable,
  jobId: number,
  version: number,
  definition: JobDefinition,
  digest: string,
  deed: Deed,
): Promise<void> {
  await tx.query(
    `INSERT INTO escapement.job_version (job_id, version, digest, definition, effective_from, applied_by)
     VALUES ($1, $2, $3, $4, date_trunc('milliseconds', clock_timestamp()), $5)`,
    [jobId, version, digest, JSON.stringify(definition), deed.person],
  );
}

/** Stops planning; what is running goes on. Pausing a paused job changes nothing. */
export async function pauseJob(
  db: Database,
  job: JobRow,
  deed: Deed,
): Promise<{ changed: boolean; revoked: number }> {
  return changeState(db, job, "paused", deed, async (tx) => {
    await enterOverdueFires(tx, job.jobId, "paused");
    return revoke(tx, job.jobId, `the job was paused by ${deed.person}: ${deed.reason}`);
  });
}

/** Stops the job for good. Its records stay, and its name may be applied again. */
export async function deleteJob(
  db: Database,
  job: JobRow,
  deed: Deed,
): Promise<{ changed: boolean; revoked: number }> {
  return changeState(db, job, "deleted", deed, async (tx, before) => {
    if (before.state === "active") await enterOverdueFires(tx, job.jobId, "deleted");
    else await enterFires(tx, job.jobId, "cancelled", "the job was paused");
    return revoke(tx, job.jobId, `the job was deleted by ${deed.person}: ${deed.reason}`);
  });
}

/** Goes on planning from now. The fires of the pause are entered as cancelled, so that none has disappeared. */
export async function resumeJob(
  db: Database,
  job: JobRow,
  deed: Deed,
): Promise<{ changed: boolean; skipped: number }> {
  let skipped = 0;
  const { changed } = await changeState(db, job, "active", deed, async (tx) => {
    skipped = await enterFires(tx, job.jobId, "cancelled", "the job was paused");
    return 0;
  });
  return { changed, skipped };
}

async function changeState(
  db: Database,
  job: JobRow,
  to: JobState,
  deed: Deed,
  work: (tx: Queryable, before: JobRow) => Promise<number>,
): Promise<{ changed: boolean; revoked: number }> {
  return db.transaction(async (tx) => {
    const before = await lockJob(tx, job);
    if (!before || before.state === to) return { changed: false, revoked: 0 };
    if (before.state === "deleted") {
      throw new EscapementError("E_REFUSED", {
        what: `${jobLabel(job)} is deleted`,
        hint: "apply its file again to bring it back",
      });
    }
    const revoked = await work(tx, before);
    await tx.query(
      "UPDATE escapement.job SET state = $2, state_reason = $3, state_since = clock_timestamp() WHERE job_id = $1",
      [job.jobId, to, deed.reason],
    );
    const verb = { active: "resume", paused: "pause", deleted: "delete" }[to];
    await recordOperation(tx, {
      ...deed,
      action: `jobs ${verb}`,
      jobId: job.jobId,
      before: { state: before.state },
      after: { state: to, revoked },
    });
    return { changed: true, revoked };
  });
}

/** Takes back the future and sets the cursor to now, so that it can be planned again. */
async function revoke(tx: Queryable, jobId: number, reason: string): Promise<number> {
  const { rows } = await tx.query<{ count: number }>("SELECT escapement.revoke_planned($1, $2) AS count", [
    jobId,
    reason,
  ]);
  return rows[0]?.count ?? 0;
}

/** How many rows one insert of paused fires takes. */
const chunk = 5_000;

/** Fires that came due while the leader was behind must not disappear with the planning. */
async function enterOverdueFires(tx: Queryable, jobId: number, change: "paused" | "deleted"): Promise<void> {
  const reason = `due, but not yet planned when the job was ${change}`;
  const missed = await enterFires(tx, jobId, "missed", reason);
  if (missed === 0) return;
  await raiseAlert(tx, {
    dedupKey: `missed:${jobId}:${change}`,
    kind: "missed",
    severity: "warning",
    jobId,
    message: `${missed} fire(s) missed: ${reason}`,
    details: { count: missed },
  });
}

/** Enters the fires between the cursor and now, and moves the cursor to now. Returns how many. */
async function enterFires(
  tx: Queryable,
  jobId: number,
  status: "cancelled" | "missed",
  reason: string,
): Promise<number> {
  const { rows } = await tx.query<JobRow & { now: Date; digest: string }>(
    `SELECT date_trunc('milliseconds', clock_timestamp()) AS now, j.planned_until AS "plannedUntil", j.version, v.digest, v.definition
     FROM escapement.job j JOIN escapement.job_version v ON v.job_id = j.job_id AND v.version = j.version WHERE j.job_id = $1`,
    [jobId],
  );
  const { now, plannedUntil, version, digest, definition } = rows[0]!;
  const fires = jobSchedule(definition)?.between(plannedUntil.getTime(), now.getTime()) ?? [];
  if (fires.length > 0) {
    await tx.query("SELECT escapement.ensure_partitions($1, $2)", [new Date(fires[0]!), now]);
  }
  for (let start = 0; start < fires.length; start += chunk) {
    await tx.query(
      `INSERT INTO escapement.execution (job_id, fire_time, trigger_type, status, job_version, digest, shard_count, schedule_time, reason)
       SELECT $1, w.fire, 'schedule', $6, $2, $3, $4, w.fire, $7 FROM unnest($5::timestamptz[]) w(fire)
       -- A plan that was taken back when the pause began is one of its fires, too.
       ON CONFLICT (job_id, fire_time) DO UPDATE SET revoked_at = NULL, status = excluded.status, reason = excluded.reason
         WHERE execution.revoked_at IS NOT NULL`,
      [
        jobId,
        version,
        digest,
        shardCount(definition),
        fires.slice(start, start + chunk).map((ms) => new Date(ms)),
        status,
        reason,
      ],
    );
  }
  await tx.query("UPDATE escapement.job SET planned_until = greatest(planned_until, $2) WHERE job_id = $1", [
    jobId,
    now,
  ]);
  return fires.length;
}

/** The job under its row lock: whoever holds it decides alone. */
async function lockJob(tx: Queryable, job: { namespace: string; name: string }): Promise<JobRow | null> {
  await tx.query("SELECT 1 FROM escapement.job WHERE namespace = $1 AND name = $2 FOR NO KEY UPDATE", [
    job.namespace,
    job.name,
  ]);
  return findJob(tx, `${job.namespace}/${job.name}`);
}
