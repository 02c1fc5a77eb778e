/** Whether the cap on catch-up holds: claims on trial, the slots it is a part of, and what may come to stand in line for them. */
import type { Queryable } from "../database.ts";
import { probeNamespace } from "../drill/drill-sample.ts";
import { type Look, look } from "./look.ts";
import { type Trial, undone } from "./undone.ts";

export interface CapTrial {
  /** What the cap leaves free. */
  readonly allowed: number;
  /** What the first claim got, of more than was allowed. */
  readonly first: number;
  /** What a second claim got after it. */
  readonly second: number;
}

/**
 * Puts more catch-up shards in line than the cap allows, claims twice, and undoes it.
 * @param share the part of normal concurrency, 0 to 0.5
 */
export function tryCatchUpCap(db: Queryable, share: number): Promise<Trial<CapTrial>> {
  return undone<CapTrial>(db, "try_catch_up_cap", [share]);
}

export interface SlotRow {
  readonly cpu: number;
  readonly memory: number;
  readonly io: number;
  readonly control: number;
}

/** Slots of all executors whose lease holds; a drained one is given nothing. */
export function readSlots(db: Queryable): Promise<Look<SlotRow>> {
  return look<SlotRow>(
    db,
    `SELECT coalesce(sum(cpu_slots), 0) AS cpu, coalesce(sum(memory_slots), 0) AS memory, coalesce(sum(io_slots), 0) AS io,
       coalesce(sum(control_slots), 0) AS control
     FROM escapement.executor x WHERE state = 'active' AND lease_until > clock_timestamp()
       AND NOT EXISTS (SELECT 1 FROM escapement.executor_drain d WHERE d.node = x.node)`,
  );
}

export interface CatchUpRow {
  readonly jobId: number;
  /** `namespace/name`. */
  readonly job: string;
  /** A paused job has nothing that is due. */
  readonly state: "active" | "paused";
  readonly class: keyof SlotRow;
  /** How many fires; 0 for a job that people run, and for one whose late fires are skipped. */
  readonly fires: number;
  readonly sideBySide: boolean;
  readonly shards: number;
  readonly timeoutMs: number;
}

/** What every job would catch up by the version in force; without those of a drill, which are gone when it is over. */
export function readCatchUpWork(db: Queryable): Promise<Look<CatchUpRow>> {
  return look<CatchUpRow>(
    db,
    `SELECT j.job_id AS "jobId", j.namespace || '/' || j.name AS job, j.state, d #>> '{resources,class}' AS class,
       CASE WHEN d #>> '{schedule,kind}' = 'manual' OR d #>> '{misfire,policy}' = 'skip' THEN 0
         ELSE (d #>> '{catchUp,maxFires}')::integer END AS fires, d #>> '{blocking,policy}' = 'allow' AS "sideBySide",
       coalesce((d #>> '{shards,count}')::integer, 1) + coalesce(jsonb_array_length(d #> '{shards,heavy}'), 0) AS shards,
       (d ->> 'timeoutMs')::double precision AS "timeoutMs"
     FROM escapement.job j JOIN escapement.job_version v ON v.job_id = j.job_id AND v.version = j.version
     CROSS JOIN LATERAL (SELECT v.definition) AS defined(d)
     WHERE j.state <> 'deleted' AND j.namespace <> $1 ORDER BY 2`,
    [probeNamespace],
  );
}
