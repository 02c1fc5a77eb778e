/** Claiming shards: a batch at a time, each with a new fence token. */

import { EscapementError } from "../base/errors.ts";
import type { ResourceClass } from "../spec/job-definition.ts";
import { type Queryable, sqlState } from "./database.ts";
import type { FencedShard } from "./shard-key.ts";

/** The class column's value for each resource class. */
export const classNumber: Record<ResourceClass, number> = {
  cpu: 1,
  memory: 2,
  io: 3,
  control: 4,
};

export interface ClaimRequest {
  readonly incarnation: string;
  readonly class: ResourceClass;
  /** At most so many shards. */
  readonly limit: number;
  /** Take shards of caught-up executions instead of ordinary ones. */
  readonly catchUp: boolean;
  /** The part of the cluster's slots of this class that catch-up may use, 0 to 0.5. */
  readonly catchUpShare: number;
}

export interface ClaimedShard extends FencedShard {
  /** Counts every claim of this shard, from 1. */
  readonly attempt: number;
  /** Counts towards the retry cap: all attempts of this run but interrupted ones, this one included. */
  readonly tries: number;
  readonly maxTries: number;
  readonly catchUp: boolean;
}

/**
 * Claims what is ready, oldest first.
 * @throws E_LEASE_LOST when the executor's own lease has ended.
 */
export async function claimShards(db: Queryable, request: ClaimRequest): Promise<ClaimedShard[]> {
  try {
    const { rows } = await db.query<ClaimedShard>(
      `SELECT job_id AS "jobId", fire_time AS "fireTime", shard_no AS "shardNo", attempt, tries, max_tries AS "maxTries",
         fence_token AS "fenceToken", catch_up AS "catchUp"
       FROM escapement.claim($1, $2::smallint, $3, $4, $5)`,
      [request.incarnation, classNumber[request.class], request.limit, request.catchUp, request.catchUpShare],
    );
    return rows;
  } catch (error) {
    if (sqlState(error) === "ES002")
      throw new EscapementError("E_LEASE_LOST", { what: "this executor" }, { cause: error });
    throw error;
  }
}

/** Whether anything waits in a lane, and how long until the next retry in it is due (null: none). */
export interface LaneOutlook {
  readonly class: ResourceClass;
  readonly catchUp: boolean;
  readonly dueInMs: number;
}

/** The earliest claimable instant of every lane that has a waiting shard, relative to the database's time. */
export async function laneOutlook(db: Queryable): Promise<LaneOutlook[]> {
  const lanes = Object.entries(classNumber).flatMap(([name, number]) => [
    { name: name as ResourceClass, number, catchUp: false },
    { name: name as ResourceClass, number, catchUp: true },
  ]);
  const { rows } = await db.query<{ position: number; dueInMs: number | null }>(
    `SELECT w.position::integer AS position,
       (SELECT extract(epoch FROM l.run_after - clock_timestamp()) * 1000 FROM escapement.shard_live l
        WHERE l.owner IS NULL AND l.class = w.class AND l.catch_up = w.catch_up ORDER BY l.run_after LIMIT 1)::double precision AS "dueInMs"
     FROM unnest($1::smallint[], $2::boolean[]) WITH ORDINALITY AS w(class, catch_up, position)`,
    [lanes.map((lane) => lane.number), lanes.map((lane) => lane.catchUp)],
  );
  return rows.flatMap((row) => {
    const lane = lanes[row.position - 1];
    return lane && row.dueInMs !== null
      ? [{ class: lane.name, catchUp: lane.catchUp, dueInMs: row.dueInMs }]
      : [];
  });
}

export interface HeldShard extends FencedShard {
  /** Someone asked for this execution to be cancelled: kill the child and complete as cancelled. */
  readonly cancelRequested: boolean;
}

/** What the store says this executor holds. What is missing from it must be killed. */
export async function heldShards(db: Queryable, incarnation: string): Promise<HeldShard[]> {
  const { rows } = await db.query<HeldShard>(
    `SELECT job_id AS "jobId", fire_time AS "fireTime", shard_no AS "shardNo", fence_token AS "fenceToken",
       cancel_requested AS "cancelRequested"
     FROM escapement.shard_live WHERE owner = $1`,
    [incarnation],
  );
  return rows;
}
