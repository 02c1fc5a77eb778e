/** Whether the cap on catch-up holds: claims on trial, and the slots it is a part of. */
import type { Queryable } from "../database.ts";
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

/** Slots of all executors whose lease holds. */
export function readSlots(db: Queryable): Promise<Look<SlotRow>> {
  return look<SlotRow>(
    db,
    `SELECT coalesce(sum(cpu_slots), 0) AS cpu, coalesce(sum(memory_slots), 0) AS memory, coalesce(sum(io_slots), 0) AS io,
       coalesce(sum(control_slots), 0) AS control
     FROM escapement.executor WHERE state = 'active' AND lease_until > clock_timestamp()`,
  );
}
