/** One look at the whole cluster: counts for status screens, from live tables only. */
import type { Queryable } from "./database.ts";

export interface Backlog {
  readonly planned: number;
  readonly held: number;
  readonly open: number;
  readonly shardsPending: number;
  readonly shardsRunning: number;
  /** Of planned executions, how long ago the oldest due one was due. */
  readonly mostLateMs: number | null;
  readonly staleWrites: number;
}

export async function readBacklog(db: Queryable): Promise<Backlog> {
  const { rows } = await db.query<Backlog>(
    `SELECT count(*) FILTER (WHERE state = 'planned')::integer AS planned, count(*) FILTER (WHERE state = 'held')::integer AS held,
       count(*) FILTER (WHERE state = 'open')::integer AS open,
       (SELECT count(*)::integer FROM escapement.shard_live WHERE owner IS NULL) AS "shardsPending",
       (SELECT count(*)::integer FROM escapement.shard_live WHERE owner IS NOT NULL) AS "shardsRunning",
       (extract(epoch FROM clock_timestamp() - min(due_at) FILTER (WHERE state = 'planned' AND due_at < clock_timestamp())) * 1000)::double precision AS "mostLateMs",
       (SELECT count(*)::integer FROM escapement.stale_write) AS "staleWrites"
     FROM escapement.execution_live`,
  );
  return rows[0]!;
}
