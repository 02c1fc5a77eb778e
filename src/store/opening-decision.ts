/** Taking the due executions of one job through the misfire and blocking policies, under its row lock. */
import { decideBlocking } from "../schedule/blocking.ts";
import { decideMisfires } from "../schedule/misfire.ts";
import type { JobDefinition } from "../spec/job-definition.ts";
import type { Queryable } from "./database.ts";
import { endUnopened } from "./unopened.ts";

/** How many due executions of one job are decided in one transaction. */
const perJob = 200;

interface DueExecution {
  fireTime: Date;
  triggerType: "schedule" | "misfire" | "manual";
  chainAfter: Date | null;
  queued: boolean;
  definition: JobDefinition;
}

/** Takes the due executions of one job through the policies. Does nothing when someone else is at it. */
export async function decideJob(tx: Queryable, jobId: number): Promise<{ opened: number; decided: number }> {
  const locked = await tx.query<{ now: Date }>(
    "SELECT clock_timestamp() AS now FROM escapement.job WHERE job_id = $1 FOR NO KEY UPDATE SKIP LOCKED",
    [jobId],
  );
  if (!locked.rows[0]) return { opened: 0, decided: 0 };
  const now = locked.rows[0].now;
  await tx.query("SELECT escapement.unopen_overdue($1)", [jobId]);
  const due = await dueExecutions(tx, jobId);
  const waiting = await decideLate(tx, jobId, due, now);
  let opened = 0;
  let ended = due.length - waiting.length;
  for (const execution of waiting) {
    const outcome = await decideOne(tx, jobId, execution);
    if (outcome === "opened") opened += 1;
    if (outcome === "ended") ended += 1;
  }
  if (ended > 0) await letGo(tx, jobId);
  return { opened, decided: due.length };
}

async function dueExecutions(tx: Queryable, jobId: number): Promise<DueExecution[]> {
  const { rows } = await tx.query<DueExecution>(
    `SELECT l.fire_time AS "fireTime", l.trigger_type AS "triggerType", l.chain_after AS "chainAfter", l.queued, v.definition
     FROM escapement.execution_live l
     CROSS JOIN LATERAL (SELECT job_version FROM escapement.execution e WHERE e.job_id = l.job_id AND e.fire_time = l.fire_time LIMIT 1) e
     JOIN escapement.job_version v ON v.job_id = l.job_id AND v.version = e.job_version
     WHERE l.job_id = $1 AND l.state = 'planned' AND l.due_at <= (SELECT clock_timestamp())
     ORDER BY l.fire_time LIMIT ${perJob}`,
    [jobId],
  );
  return rows;
}

/** Applies the misfire policy to what is late; returns what is still to be opened, oldest first. */
async function decideLate(
  tx: Queryable,
  jobId: number,
  due: DueExecution[],
  now: Date,
): Promise<DueExecution[]> {
  const scheduled = due.filter((execution) => execution.triggerType === "schedule" && !execution.queued);
  const first = scheduled[0];
  if (!first) return due;
  const { misfire, catchUp } = first.definition;
  const { rows } = await tx.query<{ count: number; last: Date | null }>(
    "SELECT count(*)::integer AS count, max(fire_time) AS last FROM escapement.execution_live WHERE job_id = $1 AND trigger_type = 'misfire'",
    [jobId],
  );
  const decisions = decideMisfires({
    policy: misfire.policy,
    thresholdMs: misfire.thresholdMs,
    ...(misfire.policy === "within-window" ? { windowMs: misfire.windowMs } : {}),
    catchUp,
    lateFiresMs: scheduled.map((execution) => execution.fireTime.getTime()),
    nowMs: now.getTime(),
    alreadyCatchingUp: rows[0]?.count ?? 0,
  });
  let chainAfter = rows[0]?.last ?? null;
  const missed = new Set<number>();
  for (const decision of decisions) {
    const execution = scheduled.find((candidate) => candidate.fireTime.getTime() === decision.fireMs)!;
    if (decision.decision === "missed") {
      await endUnopened(tx, jobId, execution.fireTime, "missed", decision.reason ?? "misfire");
      missed.add(decision.fireMs);
    } else if (decision.misfired) {
      execution.triggerType = "misfire";
      execution.chainAfter = chainAfter;
      chainAfter = execution.fireTime;
      await markCatchUp(tx, jobId, execution);
    }
  }
  await alertMissed(
    tx,
    jobId,
    decisions.filter((decision) => decision.decision === "missed"),
  );
  return due.filter((execution) => !missed.has(execution.fireTime.getTime()));
}

async function markCatchUp(tx: Queryable, jobId: number, execution: DueExecution): Promise<void> {
  await tx.query(
    `WITH live AS (
       UPDATE escapement.execution_live SET trigger_type = 'misfire', catch_up = true, chain_after = $3
       WHERE job_id = $1 AND fire_time = $2)
     UPDATE escapement.execution SET trigger_type = 'misfire' WHERE job_id = $1 AND fire_time = $2`,
    [jobId, execution.fireTime, execution.chainAfter],
  );
}

async function alertMissed(
  tx: Queryable,
  jobId: number,
  missed: readonly { fireMs: number; reason?: string }[],
): Promise<void> {
  const first = missed[0];
  if (!first) return;
  await tx.query("SELECT escapement.raise_alert($1, 'missed', 'warning', $2, $3, $4, $5)", [
    `missed:${jobId}:${new Date(first.fireMs).toISOString()}`,
    jobId,
    new Date(first.fireMs),
    `${missed.length} fire(s) missed: ${first.reason ?? ""}`,
    JSON.stringify({ count: missed.length, last: new Date(missed.at(-1)!.fireMs) }),
  ]);
}

type Outcome = "opened" | "held" | "ended";

/** One due execution, everything older of the same job already decided. */
async function decideOne(tx: Queryable, jobId: number, execution: DueExecution): Promise<Outcome> {
  const chain = await chainState(tx, jobId, execution.chainAfter);
  if (chain.state === "waiting") return hold(tx, jobId, execution.fireTime);
  if (chain.state === "broken") {
    const reason = `not caught up: the fire before it, ${execution.chainAfter!.toISOString()}, ended as ${chain.status}`;
    await endUnopened(tx, jobId, execution.fireTime, "missed", reason);
    await alertMissed(tx, jobId, [{ fireMs: execution.fireTime.getTime(), reason }]);
    return "ended";
  }
  const { blocking } = execution.definition;
  const others = await unfinished(tx, jobId, execution.fireTime);
  // Fires that are being caught up stand in line without using up the queue's places.
  const chained = others.filter((other) => other.state === "held" && other.chained).length;
  const decision = decideBlocking({
    policy: blocking.policy,
    ...(blocking.policy === "queue" ? { maxQueued: blocking.maxQueued + chained } : {}),
    open: others,
    fireMs: execution.fireTime.getTime(),
  });
  switch (decision.action) {
    case "open":
      await tx.query("SELECT escapement.open_one($1, $2)", [jobId, execution.fireTime]);
      return "opened";
    case "hold":
      return hold(tx, jobId, execution.fireTime);
    case "blocked":
      // A fire that is caught up on purpose, or was run by hand to fill a gap, waits; dropping it would lose it twice.
      if (execution.triggerType === "misfire" || execution.chainAfter !== null)
        return hold(tx, jobId, execution.fireTime);
      await endUnopened(tx, jobId, execution.fireTime, "blocked", decision.reason);
      return "ended";
    case "replace": {
      await replace(tx, jobId, execution.fireTime, decision.cancel);
      // What was not running has ended at once; what runs ends when its executor has killed it.
      const left = await unfinished(tx, jobId, execution.fireTime);
      if (left.length > 0) return hold(tx, jobId, execution.fireTime);
      await tx.query("SELECT escapement.open_one($1, $2)", [jobId, execution.fireTime]);
      return "opened";
    }
  }
}

async function chainState(
  tx: Queryable,
  jobId: number,
  after: Date | null,
): Promise<{ state: "clear" | "waiting" | "broken"; status?: string }> {
  if (after === null) return { state: "clear" };
  const { rows } = await tx.query<{ status: string }>(
    "SELECT status FROM escapement.execution WHERE job_id = $1 AND fire_time = $2",
    [jobId, after],
  );
  const status = rows[0]?.status;
  if (status === undefined || status === "success") return { state: "clear" };
  const alive = ["planned", "pending", "running", "interrupted"].includes(status);
  return { state: alive ? "waiting" : "broken", status };
}

/**
 * The other executions of the job that wait in line or run. The lock lets them go
 * on but not end, so that one which ends meanwhile cannot miss what is held behind it.
 */
async function unfinished(
  tx: Queryable,
  jobId: number,
  except: Date,
): Promise<{ fireMs: number; state: "held" | "open"; chained: boolean }[]> {
  const { rows } = await tx.query<{ fireTime: Date; state: "held" | "open"; chained: boolean }>(
    `SELECT fire_time AS "fireTime", state, chain_after IS NOT NULL OR trigger_type = 'misfire' AS chained
     FROM escapement.execution_live WHERE job_id = $1 AND fire_time <> $2 AND state IN ('held', 'open') FOR KEY SHARE`,
    [jobId, except],
  );
  return rows.map((row) => ({ fireMs: row.fireTime.getTime(), state: row.state, chained: row.chained }));
}

async function hold(tx: Queryable, jobId: number, fireTime: Date): Promise<"held"> {
  await tx.query(
    "UPDATE escapement.execution_live SET state = 'held', queued = true WHERE job_id = $1 AND fire_time = $2",
    [jobId, fireTime],
  );
  return "held";
}

async function replace(tx: Queryable, jobId: number, by: Date, cancelMs: readonly number[]): Promise<void> {
  for (const fireMs of cancelMs) {
    const reason = `replaced by the fire of ${by.toISOString()}`;
    const { rows } = await tx.query<{ running: number | null }>(
      "SELECT escapement.cancel($1, $2, $3) AS running",
      [jobId, new Date(fireMs), reason],
    );
    if (rows[0]?.running === null) await endUnopened(tx, jobId, new Date(fireMs), "cancelled", reason);
  }
}

/** Lets everything that waits in line ask again. */
async function letGo(tx: Queryable, jobId: number): Promise<void> {
  await tx.query(
    "UPDATE escapement.execution_live SET state = 'planned', due_at = clock_timestamp() WHERE job_id = $1 AND state = 'held'",
    [jobId],
  );
}
