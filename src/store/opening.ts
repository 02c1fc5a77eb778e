/**
 * Opening: the instant at which a planned execution becomes claimable.
 *
 *   planned ──due, nothing in the way──────────────▶ open ──▶ …
 *      │ ▲ ▲                                           │ not started within the time that its
 *      │ │ └────────────────────────────────────────────┘ misfire policy allows
 *      │ └──the one before has ended── held ◀──queue, or chained, or replacing──┐
 *      ├──────────────────────────────────────────────────────────────────────┘
 *      └──misfire or blocking policy says no──▶ missed / blocked (the end, with a reason)
 *
 * The leader opens, and so does any executor that looks for work: every decision
 * is made under the job's row lock, so nothing is ever decided by two at once.
 * What is on time and unhindered is opened by one statement for many jobs; the
 * rest goes through the pure decisions of `schedule/`, one job at a time.
 */
import { isEscapementError, messageOf } from "../base/errors.ts";
import { raiseAlert } from "./alert.ts";
import type { Database, Queryable } from "./database.ts";
import { decideJob } from "./opening-decision.ts";

export interface OpeningResult {
  /** How many executions were opened. */
  readonly opened: number;
  /** Milliseconds by the database's clock until the next planned execution is due; null when none is planned. */
  readonly nextDueInMs: number | null;
  /** The database's time. */
  readonly now: Date;
}

/** How many executions one opening statement takes; keeps it short enough not to delay anyone. */
const batch = 250;

/** Opens everything that is due. Stops after `budgetMs` so that the caller can see to its lease. */
export async function openDue(db: Database, options: { budgetMs?: number } = {}): Promise<OpeningResult> {
  const stopAt = performance.now() + (options.budgetMs ?? 1_000);
  let opened = 0;
  for (;;) {
    const { rows } = await db.query<{
      opened: number;
      undecided: number[];
      nextDueInMs: number | null;
      now: Date;
    }>(
      `SELECT opened, undecided_jobs AS undecided, next_due_ms AS "nextDueInMs", db_now AS now FROM escapement.open_due($1)`,
      [batch],
    );
    const row = rows[0]!;
    opened += row.opened;
    let decided = 0;
    for (const jobId of row.undecided) {
      const result = await decideAlone(db, jobId);
      opened += result.opened;
      decided += result.decided;
    }
    // One statement opens one execution a job; whether more of them are due, it says itself.
    const more = decided > 0 || (row.opened > 0 && row.nextDueInMs !== null && row.nextDueInMs <= 0);
    if (!more || performance.now() > stopAt) {
      return { opened, nextDueInMs: row.nextDueInMs, now: row.now };
    }
  }
}

/**
 * A net under the net: executions that are held although nothing of their job
 * is open or held before them ask again. Returns how many.
 */
export async function letWaitingAskAgain(db: Queryable): Promise<number> {
  const { rowCount } = await db.query(
    `UPDATE escapement.execution_live h SET state = 'planned', due_at = clock_timestamp()
     WHERE h.state = 'held' AND NOT EXISTS (
       SELECT 1 FROM escapement.execution_live o WHERE o.job_id = h.job_id AND o.state = 'open')`,
  );
  return rowCount ?? 0;
}

/** One job that cannot be decided must not keep the others from opening: it raises an alert and is left as it is. */
async function decideAlone(db: Database, jobId: number): Promise<{ opened: number; decided: number }> {
  try {
    return await db.transaction((tx) => decideJob(tx, jobId));
  } catch (error) {
    if (isEscapementError(error) && error.code === "E_STORE_UNAVAILABLE") throw error;
    await raiseAlert(db, {
      dedupKey: `job-unopenable:${jobId}`,
      kind: "job-unopenable",
      severity: "critical",
      jobId,
      message: `a due execution cannot be opened: ${messageOf(error)}`,
    });
    return { opened: 0, decided: 0 };
  }
}
