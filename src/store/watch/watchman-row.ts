/** The row of one watchman: that it lives, and until when it is in its start-up grace. */
import { sleep } from "../../base/monotonic.ts";
import type { Queryable } from "../database.ts";

export interface WatchmanIdentity {
  readonly node: string;
  readonly host: string;
  readonly pid: number;
  readonly version: string;
}

/**
 * Notes a start. A grace begins only after a rest: a watchman that crashes and
 * restarts again and again must not stay in its grace for ever.
 * @returns when the grace ends
 */
export async function noteWatchmanStart(
  db: Queryable,
  who: WatchmanIdentity,
  now: Date,
  graceMs: number,
): Promise<Date> {
  const { rows } = await db.query<{ graceUntil: Date }>(
    `INSERT INTO escapement.watchman AS w (node, host, pid, version, started_at, last_pass_at, grace_until)
     VALUES ($1, $2, $3, $4, $5::timestamptz, $5, $5::timestamptz + make_interval(secs => $6 / 1000.0))
     ON CONFLICT (node) DO UPDATE SET host = excluded.host, pid = excluded.pid, version = excluded.version,
       started_at = excluded.started_at, last_pass_at = excluded.last_pass_at,
       grace_until = CASE WHEN w.last_pass_at < excluded.started_at - greatest(make_interval(secs => $6 / 1000.0), interval '2 minutes')
         THEN excluded.grace_until ELSE w.grace_until END
     RETURNING grace_until AS "graceUntil"`,
    [who.node, who.host, who.pid, who.version, now, graceMs],
  );
  return rows[0]!.graceUntil;
}

/** Nobody waits longer for a note that only people read. */
const endNoteMs = 2_000;

/**
 * Notes an end that was asked for: a row without a process is how it differs from
 * one that has died. Never throws; a store that is away does not hold up the end.
 */
export async function noteWatchmanEnd(db: Queryable, { node, pid }: WatchmanIdentity): Promise<void> {
  const statement = "UPDATE escapement.watchman SET pid = 0 WHERE node = $1 AND pid = $2";
  const over = new AbortController();
  const done = () => over.abort();
  db.query(statement, [node, pid]).then(done, done);
  await sleep(endNoteMs, over.signal);
}

export async function noteWatchmanPass(db: Queryable, node: string, now: Date): Promise<void> {
  await db.query("UPDATE escapement.watchman SET last_pass_at = $2 WHERE node = $1", [node, now]);
}
