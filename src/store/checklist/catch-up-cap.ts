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
 * Puts more catch-up shards in line than the cap allows, claims twice, and undoes
 * it. They are of the class control, where hardly anything else waits, and
 * belong to job −1, which does not exist.
 * @param share the part of normal concurrency, 0 to 0.5
 */
export function tryCatchUpCap(db: Queryable, share: number): Promise<Trial<CapTrial>> {
  return undone<CapTrial>(
    db,
    `  me uuid := gen_random_uuid();
  allowed integer;
  first integer;
  second integer;`,
    `  INSERT INTO escapement.executor (incarnation, node, host, boot_id, pid, process_start, version, state, lease_ms, lease_until,
      cpu_slots, memory_slots, io_slots, control_slots)
    VALUES (me, 'trial-' || me, 'trial', 'trial', 1, 'trial', 'trial', 'active', 60000, clock_timestamp() + interval '1 minute',
      8, 8, 8, 8);
  SELECT greatest(1, floor(${Number(share)} * sum(x.io_slots))::integer)
      - (SELECT count(*) FROM escapement.shard_live l WHERE l.owner IS NOT NULL AND l.catch_up AND l.class = 4)
    INTO allowed FROM escapement.executor x WHERE x.state = 'active' AND x.lease_until > clock_timestamp()
      AND NOT EXISTS (SELECT 1 FROM escapement.executor_drain d WHERE d.node = x.node);
  INSERT INTO escapement.shard_live (job_id, fire_time, shard_no, class, catch_up, continue_fenced, max_tries, attempt, run_after)
    SELECT -1, 'epoch', n, 4, true, false, 1, 0, '-infinity' FROM generate_series(1, greatest(allowed, 0) + 5) n;
  SELECT count(*) INTO first FROM escapement.claim(me, 4::smallint, 1000000, true, ${Number(share)});
  SELECT count(*) INTO second FROM escapement.claim(me, 4::smallint, 1000000, true, ${Number(share)});
  found := jsonb_build_object('allowed', greatest(allowed, 0), 'first', first, 'second', second);`,
  );
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
