/** Drill commands as users run them, with records of their own and hosts that nobody reaches. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach } from "vitest";
import { Database } from "../../../src/store/database.ts";
import { type FreshDatabase, freshDatabase } from "../../support/database.ts";
import { runEscapement } from "../../support/processes.ts";
import { writeClusterFiles } from "./cluster-files.ts";

export let folder: string;
export let db: Database;
/** Of the owner of the database. */
export let storeUrl: string;
let fresh: FreshDatabase;
export const deed = ["--reason", "test", "--by", "tester"];

/** For the whole file: a store, inventory.yaml, cluster.yaml and a drill key; empty records before each test. */
export function aDrillScene(): void {
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "drill-store-"));
    fresh = await freshDatabase({ migrated: true });
    storeUrl = fresh.url;
    db = new Database(fresh.url, { maxConnections: 2 });
    await writeClusterFiles(folder, fresh.url);
    await drill("keygen");
  });
  afterAll(async () => {
    await db.end();
    await fresh.drop();
    rmSync(folder, { recursive: true });
  });
  beforeEach(async () => {
    await db.query("UPDATE escapement.leader SET holder = NULL, expires_at = '-infinity'");
    await db.query(
      "TRUNCATE escapement.drill_run, escapement.drill_halt, escapement.scheduler, escapement.executor CASCADE",
    );
  });
}

export function drill(...args: string[]) {
  return runEscapement(["drill", ...args], { workingFolder: folder });
}

export function withStore(...args: string[]) {
  return drill(...args, "--cluster", "cluster.yaml");
}

/** One leads, one stands by, two execute. */
export async function populate(cpuSlots = 8): Promise<void> {
  await db.query(
    `UPDATE escapement.leader SET holder = gen_random_uuid(), node = 'sched-2', host = 'h', epoch = epoch + 1,
       acquired_at = clock_timestamp(), lease_ms = 3600000, expires_at = clock_timestamp() + interval '1 hour'`,
  );
  for (const [node, role] of [
    ["sched-1", "standby"],
    ["sched-2", "leader"],
  ])
    await db.query(
      // Heard of for an hour, as the leases last: no test may depend on how fast it is.
      `INSERT INTO escapement.scheduler (incarnation, node, host, pid, version, time_zone_data, role, last_seen)
       VALUES (gen_random_uuid(), $1, 'h', 1, '0', 'x', $2, clock_timestamp() + interval '1 hour')`,
      [node, role],
    );
  for (const node of ["exec-1", "exec-2"])
    await db.query(
      `INSERT INTO escapement.executor (incarnation, node, host, boot_id, pid, process_start, version, state, lease_ms, lease_until, cpu_slots, memory_slots, io_slots)
       VALUES (gen_random_uuid(), $1, 'h', 'b', 1, '1', '0', 'active', 3600000, clock_timestamp() + interval '1 hour', $2, 0, 0)`,
      [node, cpuSlots],
    );
}
