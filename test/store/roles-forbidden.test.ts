/** Least privilege: what each role of the store may not do. */
import { expect, test } from "vitest";
import { sqlState } from "../../src/store/database.ts";
import { testJob } from "../support/job.ts";
import { Bench } from "./bench.ts";

const denied = "42501";

const forbidden: Record<"scheduler" | "executor" | "watchman" | "reader" | "drill", string[]> = {
  scheduler: [
    "INSERT INTO escapement.job_version SELECT job_id, 9, digest, definition, effective_from, applied_by FROM escapement.job_version",
    "UPDATE escapement.job_version SET definition = '{}'",
    "DELETE FROM escapement.job",
    "UPDATE escapement.operation SET reason = ''",
    "DELETE FROM escapement.operation",
    "DELETE FROM escapement.shard_attempt",
    "UPDATE escapement.migration SET digest = ''",
    "SELECT nextval('escapement.fence_sequence')",
    "TRUNCATE escapement.execution",
    "DROP TABLE escapement.execution",
  ],
  executor: [
    "UPDATE escapement.leader SET epoch = epoch + 1",
    "UPDATE escapement.job SET state = 'deleted'",
    "UPDATE escapement.job SET planned_until = now()",
    "UPDATE escapement.job_version SET definition = '{}'",
    "INSERT INTO escapement.execution SELECT * FROM escapement.execution",
    "DELETE FROM escapement.execution",
    "UPDATE escapement.cluster SET generation = 1",
    "INSERT INTO escapement.operation (person, action, reason) VALUES ('', '', '')",
    "DELETE FROM escapement.stale_write",
    "DELETE FROM escapement.shard_attempt",
    "SELECT escapement.prune(clock_timestamp())",
    "SELECT escapement.leader_acquire(gen_random_uuid(), '', '', 1000)",
    "SELECT escapement.plan(gen_random_uuid(), 1, '[]', '[]')",
    "SELECT escapement.revoke_planned(1, '')",
    "SELECT setval('escapement.fence_sequence', 1)",
    "DROP TABLE escapement.shard",
  ],
  drill: [
    "INSERT INTO escapement.job (namespace, name, state, version, known_since, planned_until) VALUES ('drill', 'x', 'active', 1, now(), now())",
    "UPDATE escapement.job SET state = 'paused'",
    "INSERT INTO escapement.job_version SELECT job_id, 9, digest, definition, effective_from, applied_by FROM escapement.job_version",
    "UPDATE escapement.job_version SET definition = '{}'",
    "DELETE FROM escapement.job",
    "UPDATE escapement.leader SET epoch = epoch + 1",
    "INSERT INTO escapement.execution SELECT * FROM escapement.execution",
    "UPDATE escapement.execution SET status = 'success'",
    "DELETE FROM escapement.execution_live",
    "DELETE FROM escapement.stale_write",
    "UPDATE escapement.operation SET reason = ''",
    "DELETE FROM escapement.drill_run",
    "UPDATE escapement.alert_outbox SET resolved_at = now()",
    "SELECT escapement.drill_job_enter(1, 'missed', '')",
    "SELECT escapement.revoke_planned(1, '')",
    "SELECT escapement.plan(gen_random_uuid(), 1, '[]', '[]')",
    "SELECT * FROM escapement.open_due(10)",
    "SELECT escapement.prune(clock_timestamp())",
  ],
  watchman: [
    "INSERT INTO escapement.drill_run SELECT * FROM escapement.drill_run",
    "SELECT escapement.drill_job_end('probe-1', 'deleted', '', '')",
    "UPDATE escapement.execution SET status = 'success'",
    "UPDATE escapement.leader SET epoch = 0",
    "UPDATE escapement.job SET state = 'paused'",
    "DELETE FROM escapement.alert_delivery",
    "INSERT INTO escapement.operation (person, action, reason) VALUES ('', '', '')",
    "SELECT * FROM escapement.open_due(10)",
    "SELECT escapement.cancel(1, now(), '')",
  ],
  reader: [
    "UPDATE escapement.execution SET status = 'success'",
    "INSERT INTO escapement.alert_outbox (dedup_key, kind, severity, message) VALUES ('', '', 'info', '')",
    "SELECT escapement.raise_alert('', '', 'info', NULL, NULL, '')",
    "SELECT * FROM escapement.open_due(10)",
    "SELECT escapement.prune(clock_timestamp())",
    "CREATE TABLE escapement.mine ()",
    "SELECT 1 FROM escapement.job FOR UPDATE",
  ],
};

test.each(Object.entries(forbidden))("the role %s can do nothing else", async (role, statements) => {
  const owner = await Bench.open();
  await owner.apply(testJob("there"));
  const { db } = await owner.as(role as keyof typeof forbidden);
  for (const statement of statements) {
    const answer = await db.query(statement).then(
      () => "allowed",
      (error: unknown) => sqlState(error),
    );
    expect(answer, statement).toBe(denied);
  }
});
