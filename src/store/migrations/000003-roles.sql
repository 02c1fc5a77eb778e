-- kind: expand
-- Least privilege. Group roles without login; a DBA grants them to logins
-- (escapement store grant LOGIN --as ROLE). They are cluster-wide objects of the
-- server, so they may exist already.

DO $$
DECLARE v_role text;
BEGIN
  FOREACH v_role IN ARRAY ARRAY['escapement_scheduler', 'escapement_executor', 'escapement_watchman', 'escapement_reader'] LOOP
    BEGIN
      EXECUTE format('CREATE ROLE %I NOLOGIN', v_role);
    EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
    END;
  END LOOP;
END $$;

REVOKE ALL ON ALL TABLES IN SCHEMA escapement FROM PUBLIC;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA escapement FROM PUBLIC;
GRANT USAGE ON SCHEMA escapement TO escapement_scheduler, escapement_executor, escapement_watchman, escapement_reader;

GRANT SELECT ON ALL TABLES IN SCHEMA escapement TO escapement_scheduler, escapement_executor, escapement_watchman, escapement_reader;

GRANT INSERT, UPDATE, DELETE ON escapement.execution, escapement.execution_live, escapement.shard, escapement.shard_live,
  escapement.job_period, escapement.shard_checkpoint TO escapement_scheduler;
GRANT UPDATE ON escapement.leader, escapement.cluster, escapement.job, escapement.executor TO escapement_scheduler;
GRANT INSERT, UPDATE ON escapement.scheduler, escapement.alert_outbox TO escapement_scheduler;
GRANT INSERT ON escapement.shard_attempt, escapement.operation, escapement.clock_sample TO escapement_scheduler;
GRANT DELETE ON escapement.clock_sample, escapement.stale_write, escapement.alert_outbox, escapement.executor,
  escapement.scheduler TO escapement_scheduler;

GRANT INSERT, UPDATE, DELETE ON escapement.execution_live, escapement.shard_live, escapement.shard_checkpoint TO escapement_executor;
GRANT UPDATE ON escapement.execution, escapement.shard, escapement.catch_up_gate TO escapement_executor;
-- Opening ends what the policies refuse; freezing anew replaces the keys of the attempt before.
GRANT DELETE ON escapement.shard, escapement.job_period, escapement.frozen_key TO escapement_executor;
-- A row lock asks for the right to update one column; this one decides nothing.
GRANT UPDATE (state_reason) ON escapement.job TO escapement_executor;
GRANT INSERT, UPDATE ON escapement.executor, escapement.alert_outbox TO escapement_executor;
GRANT INSERT ON escapement.shard_attempt, escapement.stale_write, escapement.clock_sample, escapement.frozen_key TO escapement_executor;
GRANT USAGE ON SEQUENCE escapement.fence_sequence TO escapement_executor;

GRANT UPDATE (sent_at, count, last_at, message, details) ON escapement.alert_outbox TO escapement_watchman;
GRANT INSERT ON escapement.alert_outbox, escapement.clock_sample TO escapement_watchman;

GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA escapement TO escapement_scheduler;
GRANT EXECUTE ON FUNCTION escapement.open_due, escapement.start_by, escapement.unopen_overdue, escapement.open_one, escapement.executor_renew, escapement.claim, escapement.settle,
  escapement.end_executions, escapement.complete, escapement.release_shards, escapement.reap, escapement.take_over,
  escapement.cancel, escapement.checkpoint, escapement.raise_alert, escapement.shard_of TO escapement_executor;
GRANT EXECUTE ON FUNCTION escapement.shard_of TO escapement_watchman, escapement_reader;
GRANT EXECUTE ON FUNCTION escapement.raise_alert TO escapement_watchman;
