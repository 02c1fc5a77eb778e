/** Faults to plant in the store of a good cluster: the item that must fail of each, what is wrong, the statement. */
import { drillClasses } from "./good-cluster.ts";

export const storeFaults: readonly [number, string, string][] = [
  [
    0,
    "the last restore is long ago",
    "UPDATE escapement.backup_record SET at = at - interval '50 days' WHERE kind = 'restore'",
  ],
  [1, "the constraint of shards is gone", "ALTER TABLE escapement.shard DROP CONSTRAINT shard_pkey"],
  [
    2,
    "two schedulers on one host",
    "UPDATE escapement.scheduler SET host = 'sched-1', pid = CASE node WHEN 'scheduler-1' THEN 4001 ELSE 4002 END",
  ],
  [
    3,
    "another blocking policy is in force",
    `UPDATE escapement.job_version SET definition = jsonb_set(definition, '{blocking}', '{"policy":"allow"}')`,
  ],
  [
    4,
    "another misfire policy is in force",
    `UPDATE escapement.job_version SET definition = jsonb_set(definition, '{misfire}', '{"policy":"skip","thresholdMs":5}')`,
  ],
  [
    5,
    "another cap is in force",
    `UPDATE escapement.job_version SET definition = jsonb_set(definition, '{catchUp,maxFires}', '5') WHERE definition ->> 'name' = 'bonus'`,
  ],
  [
    6,
    "a repeat has changed rows",
    `UPDATE escapement.operation SET after = jsonb_set(after, '{verdict}', '"fail"') WHERE action = 'checklist rehearse'`,
  ],
  [
    7,
    "a lease is long overdue",
    "UPDATE escapement.executor SET lease_until = clock_timestamp() - interval '5 minutes', lease_ms = 15000 WHERE node = 'executor-2'",
  ],
  [
    8,
    "a channel refused the test",
    "UPDATE escapement.alert_delivery SET state = 'failed', accepted_at = NULL, last_error = 'x' WHERE channel = 'mail'",
  ],
  [
    9,
    "schedulers have other zone data",
    "UPDATE escapement.scheduler SET time_zone_data = '2019a' WHERE node = 'scheduler-2'",
  ],
  [10, "a clock is off", "UPDATE escapement.executor SET offset_ms = 700 WHERE node = 'executor-1'"],
  [
    11,
    "the last kill was not healed",
    `INSERT INTO escapement.drill_run SELECT (jsonb_populate_record(d, to_jsonb(d) || jsonb_build_object('run_id', gen_random_uuid(), 'verdict', 'fail', 'ended_at', clock_timestamp()))).* FROM escapement.drill_run d WHERE class = '${drillClasses[0]}'`,
  ],
  [
    12,
    "a class was not tried lately",
    "UPDATE escapement.drill_run SET ended_at = ended_at - interval '60 days' WHERE class = 'network-cut'",
  ],
  [13, "the disk is nearly full", "UPDATE escapement.store_disk SET free_bytes = total_bytes / 20"],
  [
    14,
    "a month end took too long",
    "UPDATE escapement.execution SET duration_ms = 90000000 WHERE fire_time = (SELECT max(fire_time) FROM escapement.execution e JOIN escapement.job j USING (job_id) WHERE j.name = 'bonus')",
  ],
];
