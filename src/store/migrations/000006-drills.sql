-- kind: expand
-- Drills and the checklist keep their records; hosts say more about themselves; work of the class
-- `control` (drills on their timetable) runs only where somebody gave it slots.

ALTER TABLE escapement.execution_live DROP CONSTRAINT execution_live_class_check;
ALTER TABLE escapement.execution_live ADD CONSTRAINT execution_live_class_check CHECK (class IN (1, 2, 3, 4));

ALTER TABLE escapement.executor
  ADD COLUMN control_slots integer NOT NULL DEFAULT 0,
  -- What the host's own time daemon says of itself; null: not asked, or no answer.
  ADD COLUMN time_source jsonb;

ALTER TABLE escapement.scheduler
  ADD COLUMN time_source jsonb,
  -- Whether the host holds the virtual address; null: it has none, or could not look.
  ADD COLUMN holds_virtual_address boolean,
  ADD COLUMN virtual_address_seen_at timestamptz;

-- The file systems of the store's own host, as a small timer there writes them.
CREATE TABLE escapement.store_disk (
  host text NOT NULL,
  path text NOT NULL,
  total_bytes bigint NOT NULL,
  free_bytes bigint NOT NULL,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (host, path)
);

-- A drill is one row. At most one is not ended: the lock of the cluster.
CREATE TABLE escapement.drill_run (
  run_id uuid PRIMARY KEY,
  drill text NOT NULL,
  class text NOT NULL,
  digest text NOT NULL,
  -- Who asked: a person, or the execution that fired it.
  person text NOT NULL,
  trigger_type text NOT NULL CHECK (trigger_type IN ('manual', 'schedule')),
  version text NOT NULL,
  controller text NOT NULL,
  -- The controller is alive until then. After it, any other may put the hosts right and end the run.
  lease_until timestamptz NOT NULL,
  state text NOT NULL CHECK (state IN ('preflight', 'armed', 'fault', 'restoring', 'settling', 'judging', 'ended')),
  targets jsonb NOT NULL DEFAULT '[]',
  started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  fault_at timestamptz,
  restored_at timestamptz,
  ended_at timestamptz,
  abort_requested_at timestamptz,
  abort_reason text,
  verdict text CHECK (verdict IN ('pass', 'fail', 'unknown')),
  -- Why the verdict is what it is, in one sentence.
  reason text,
  -- Counts by failure class, proof, residue; the whole history is a file beside the controller.
  summary jsonb,
  CHECK ((ended_at IS NULL) = (state <> 'ended')),
  CHECK ((verdict IS NULL) = (ended_at IS NULL))
);
CREATE UNIQUE INDEX drill_run_one ON escapement.drill_run ((true)) WHERE ended_at IS NULL;
CREATE INDEX drill_run_class ON escapement.drill_run (class, started_at DESC);

-- The stop switch of the cluster: while a row is not lifted, no drill starts and a running one restores.
CREATE TABLE escapement.drill_halt (
  halt_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  person text NOT NULL,
  reason text NOT NULL,
  lifted_at timestamptz,
  lifted_by text
);
CREATE UNIQUE INDEX drill_halt_one ON escapement.drill_halt ((true)) WHERE lifted_at IS NULL;

CREATE TABLE escapement.checklist_run (
  run_id uuid PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  person text NOT NULL,
  version text NOT NULL,
  commit_id text,
  definitions_digest text NOT NULL,
  outcome text NOT NULL CHECK (outcome IN ('pass', 'fail', 'unknown')),
  -- One entry an item: its number, verdict and one sentence.
  items jsonb NOT NULL
);
CREATE INDEX checklist_run_at ON escapement.checklist_run (at DESC);

-- Backups that were made, and backups that were really restored somewhere and counted.
CREATE TABLE escapement.backup_record (
  backup_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  kind text NOT NULL CHECK (kind IN ('backup', 'restore')),
  person text NOT NULL,
  host text NOT NULL,
  -- What was backed up or restored, and where to.
  what text NOT NULL,
  bytes bigint,
  -- Of a restore: rows of every table compared with the source.
  checked jsonb,
  ok boolean NOT NULL,
  reason text
);
CREATE INDEX backup_record_at ON escapement.backup_record (kind, at DESC);

REVOKE ALL ON escapement.store_disk, escapement.drill_run, escapement.drill_halt, escapement.checklist_run,
  escapement.backup_record FROM PUBLIC;
GRANT SELECT ON escapement.store_disk, escapement.drill_run, escapement.drill_halt, escapement.checklist_run,
  escapement.backup_record TO escapement_scheduler, escapement_executor, escapement_watchman, escapement_reader;
-- People's commands use the scheduler's role; drills have one of their own, below.
GRANT INSERT, UPDATE ON escapement.drill_run, escapement.drill_halt TO escapement_scheduler;
GRANT INSERT ON escapement.checklist_run, escapement.backup_record TO escapement_scheduler, escapement_watchman;
GRANT INSERT, UPDATE, DELETE ON escapement.store_disk TO escapement_scheduler;
GRANT DELETE ON escapement.drill_run, escapement.drill_halt, escapement.checklist_run, escapement.backup_record
  TO escapement_scheduler;

-- Trials of the checklist. Each does what must be refused, or lets a lease end, and undoes all of it
-- before it returns: the inner block always ends in ES900. They run as their owner, so that whoever
-- asks the checklist needs no right to write. Rows belong to jobs -1 and -2, which do not exist.

-- The same row twice into every partition and live table. Names what took it and what refused it.
CREATE FUNCTION escapement.try_duplicates() RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  v_part record;
  v_table text;
  v_at timestamptz;
  v_accepted text[] := '{}';
  v_refused text[] := '{}';
BEGIN
  FOR v_part IN
    SELECT p.relname AS parent, c.relname::text AS relation,
      substring(pg_get_expr(c.relpartbound, c.oid) FROM 'FROM \(''([^'']+)''\)')::timestamptz AS at
    FROM pg_inherits h JOIN pg_class c ON c.oid = h.inhrelid JOIN pg_class p ON p.oid = h.inhparent
    WHERE h.inhparent IN ('escapement.execution'::regclass, 'escapement.shard'::regclass) AND c.relkind = 'r'
    UNION ALL SELECT t, t, NULL FROM unnest(ARRAY['execution_live', 'shard_live', 'job_period']) t
    ORDER BY 2
  LOOP
    v_table := v_part.parent;
    v_at := v_part.at;
    BEGIN
      FOR i IN 1..2 LOOP
        CASE v_table
          WHEN 'execution' THEN
            INSERT INTO escapement.execution (job_id, fire_time, trigger_type, status, job_version, digest, shard_count, schedule_time)
            VALUES (-1, v_at, 'manual', 'planned', 1, 'trial', 1, v_at);
          WHEN 'shard' THEN
            INSERT INTO escapement.shard (job_id, fire_time, shard_no) VALUES (-1, v_at, 0);
          WHEN 'execution_live' THEN
            INSERT INTO escapement.execution_live (job_id, fire_time, state, due_at, trigger_type, remaining, class, max_tries,
              misfire_threshold_ms, blocking, continue_fenced, freezes)
            VALUES (-1, 'epoch', 'held', 'infinity', 'manual', 1, 1, 1, 1, 'forbid', false, false);
          WHEN 'shard_live' THEN
            INSERT INTO escapement.shard_live (job_id, fire_time, shard_no, class, catch_up, continue_fenced, max_tries, attempt, run_after)
            VALUES (-1, 'epoch', 0, 1, false, false, 1, 0, 'infinity');
          ELSE
            INSERT INTO escapement.job_period (job_id, period_key, fire_time) VALUES (-1, 'trial', clock_timestamp());
        END CASE;
      END LOOP;
      RAISE EXCEPTION SQLSTATE 'ES900';
    EXCEPTION
      WHEN unique_violation THEN v_refused := v_refused || v_part.relation;
      WHEN SQLSTATE 'ES900' THEN v_accepted := v_accepted || v_part.relation;
    END;
  END LOOP;
  RETURN jsonb_build_object('accepted', v_accepted, 'refused', v_refused);
END $$;

-- Plans nothing at all, and renews, as somebody who does not lead.
CREATE FUNCTION escapement.try_stranger() RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  v_stranger uuid := gen_random_uuid();
  v_planned boolean;
  v_renewed boolean;
BEGIN
  BEGIN
    BEGIN
      PERFORM * FROM escapement.plan(v_stranger, (SELECT epoch FROM escapement.leader LIMIT 1), '[]', '[]');
      v_planned := true;
    EXCEPTION WHEN SQLSTATE 'ES001' THEN v_planned := false;
    END;
    v_renewed := escapement.leader_renew(v_stranger, (SELECT epoch FROM escapement.leader LIMIT 1)) IS NOT NULL;
    RAISE EXCEPTION SQLSTATE 'ES900';
  EXCEPTION WHEN SQLSTATE 'ES900' THEN NULL;
  END;
  RETURN jsonb_build_object('planned', v_planned, 'renewed', v_renewed);
END $$;

-- More catch-up shards than the share of the slots allows, claimed twice. They are of the class control,
-- where hardly anything else waits.
CREATE FUNCTION escapement.try_catch_up_cap(p_share double precision) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  v_me uuid := gen_random_uuid();
  v_allowed integer;
  v_first integer;
  v_second integer;
BEGIN
  IF p_share NOT BETWEEN 0 AND 1 THEN RAISE EXCEPTION 'the share is a part of the slots, from 0 to 1'; END IF;
  BEGIN
    INSERT INTO escapement.executor (incarnation, node, host, boot_id, pid, process_start, version, state, lease_ms, lease_until,
      cpu_slots, memory_slots, io_slots, control_slots)
    VALUES (v_me, 'trial-' || v_me, 'trial', 'trial', 1, 'trial', 'trial', 'active', 60000, clock_timestamp() + interval '1 minute',
      8, 8, 8, 8);
    SELECT greatest(1, floor(p_share * sum(x.io_slots))::integer)
        - (SELECT count(*) FROM escapement.shard_live l WHERE l.owner IS NOT NULL AND l.catch_up AND l.class = 4)
      INTO v_allowed FROM escapement.executor x WHERE x.state = 'active' AND x.lease_until > clock_timestamp()
        AND NOT EXISTS (SELECT 1 FROM escapement.executor_drain d WHERE d.node = x.node);
    INSERT INTO escapement.shard_live (job_id, fire_time, shard_no, class, catch_up, continue_fenced, max_tries, attempt, run_after)
      SELECT -1, 'epoch', n, 4, true, false, 1, 0, '-infinity' FROM generate_series(1, greatest(v_allowed, 0) + 5) n;
    SELECT count(*) INTO v_first FROM escapement.claim(v_me, 4::smallint, 1000000, true, p_share);
    SELECT count(*) INTO v_second FROM escapement.claim(v_me, 4::smallint, 1000000, true, p_share);
    RAISE EXCEPTION SQLSTATE 'ES900';
  EXCEPTION WHEN SQLSTATE 'ES900' THEN NULL;
  END;
  RETURN jsonb_build_object('allowed', greatest(v_allowed, 0), 'first', v_first, 'second', v_second);
END $$;

-- A lease that ends while the statement runs: by the time at which it began, as now() has it, it would still hold.
CREATE FUNCTION escapement.try_lease() RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  v_dead uuid := gen_random_uuid();
  v_alive uuid := gen_random_uuid();
  v_fire timestamptz := date_trunc('milliseconds', clock_timestamp());
  v_renewed boolean;
  v_claimed boolean;
  v_completed boolean;
  v_old_token boolean;
  v_reaped boolean;
  v_free boolean;
BEGIN
  BEGIN
    INSERT INTO escapement.executor (incarnation, node, host, boot_id, pid, process_start, version, state, lease_ms, lease_until,
      cpu_slots, memory_slots, io_slots)
    SELECT who, 'trial-' || who, 'trial', 'trial', 1, 'trial', 'trial', 'active', 60000, clock_timestamp() + lease, 0, 0, 0
    FROM (VALUES (v_dead, interval '80 milliseconds'), (v_alive, interval '1 minute')) x (who, lease);
    INSERT INTO escapement.shard_live (job_id, fire_time, shard_no, class, catch_up, continue_fenced, max_tries, tries, attempt, run_after,
      owner, fence_token, start_time)
    VALUES (-2, v_fire, 0, 4, false, false, 3, 1, 1, v_fire, v_dead, 5, v_fire), (-2, v_fire, 1, 4, false, false, 3, 1, 1, v_fire, v_alive, 7, v_fire);
    v_old_token := cardinality(escapement.complete(v_alive, ARRAY[-2], ARRAY[v_fire], ARRAY[1], ARRAY[6]::bigint[], ARRAY['success'],
      ARRAY[0]::bigint[], ARRAY[NULL]::bigint[], ARRAY[NULL]::integer[], ARRAY[NULL]::text[])) = 0;
    PERFORM pg_sleep(0.15);
    v_renewed := escapement.executor_renew(v_dead, NULL) IS NOT NULL;
    BEGIN
      PERFORM * FROM escapement.claim(v_dead, 4::smallint, 0, false, 0.5);
      v_claimed := true;
    EXCEPTION WHEN SQLSTATE 'ES002' THEN v_claimed := false;
    END;
    v_completed := cardinality(escapement.complete(v_dead, ARRAY[-2], ARRAY[v_fire], ARRAY[0], ARRAY[5]::bigint[], ARRAY['success'],
      ARRAY[0]::bigint[], ARRAY[NULL]::bigint[], ARRAY[NULL]::integer[], ARRAY[NULL]::text[])) = 0;
    SELECT escapement.reap(v_dead, x.lease_until) = 1 INTO v_reaped FROM escapement.executor x WHERE x.incarnation = v_dead;
    SELECT l.owner IS NULL INTO v_free FROM escapement.shard_live l WHERE l.job_id = -2 AND l.fire_time = v_fire AND l.shard_no = 0;
    RAISE EXCEPTION SQLSTATE 'ES900';
  EXCEPTION WHEN SQLSTATE 'ES900' THEN NULL;
  END;
  RETURN jsonb_build_object('renewed', v_renewed, 'claimed', v_claimed, 'completed', v_completed, 'oldToken', v_old_token,
    'reaped', coalesce(v_reaped, false), 'free', coalesce(v_free, false));
END $$;

-- Whoever asks the checklist: reads the records, tries what must be refused, and writes down what came of it.
DO $$
BEGIN
  CREATE ROLE escapement_checklist NOLOGIN;
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
END $$;
GRANT USAGE ON SCHEMA escapement TO escapement_checklist;
GRANT SELECT ON ALL TABLES IN SCHEMA escapement TO escapement_checklist;
GRANT INSERT ON escapement.checklist_run, escapement.operation TO escapement_checklist;
REVOKE ALL ON FUNCTION escapement.try_duplicates, escapement.try_stranger, escapement.try_catch_up_cap, escapement.try_lease FROM PUBLIC;
GRANT EXECUTE ON FUNCTION escapement.try_duplicates, escapement.try_stranger, escapement.try_catch_up_cap, escapement.try_lease
  TO escapement_checklist, escapement_scheduler;

-- The work of a drill. Whoever runs drills may change jobs of the namespace `drill` and no others: these run
-- as their owner and refuse everything else. They do what people's commands do (src/store/job-change.ts),
-- for jobs that fire at a fixed interval and have no period; what they miss is for the drill to find, and no alert.

-- Enters the fires between the cursor and now, and moves the cursor to now, so that none has disappeared.
CREATE FUNCTION escapement.drill_job_enter(p_job_id integer, p_status text, p_reason text) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  v_now timestamptz := date_trunc('milliseconds', clock_timestamp());
  v_job record;
  v_every bigint;
  v_count integer;
BEGIN
  SELECT j.planned_until, j.version, x.digest, x.definition INTO STRICT v_job FROM escapement.job j
    JOIN escapement.job_version x ON x.job_id = j.job_id AND x.version = j.version
    WHERE j.job_id = p_job_id AND j.namespace = 'drill';
  v_every := (v_job.definition->'schedule'->>'everyMs')::bigint;
  PERFORM escapement.ensure_partitions(least(v_job.planned_until, v_now), v_now);
  INSERT INTO escapement.execution (job_id, fire_time, trigger_type, status, job_version, digest, shard_count, schedule_time, reason)
  SELECT p_job_id, to_timestamp(n * v_every / 1000.0), 'schedule', p_status, v_job.version, v_job.digest,
    coalesce((v_job.definition->'shards'->>'count')::integer, 1), to_timestamp(n * v_every / 1000.0), p_reason
  FROM generate_series(floor(extract(epoch FROM v_job.planned_until) * 1000 / v_every)::bigint + 1,
    floor(extract(epoch FROM v_now) * 1000 / v_every)::bigint) n
  ON CONFLICT (job_id, fire_time) DO UPDATE SET revoked_at = NULL, status = excluded.status, reason = excluded.reason
    WHERE execution.revoked_at IS NOT NULL;
  GET DIAGNOSTICS v_count = ROW_COUNT;
  UPDATE escapement.job SET planned_until = greatest(planned_until, v_now) WHERE job_id = p_job_id;
  RETURN v_count;
END $$;

-- Applies one probe job. Returns created, changed, revived, unchanged, or busy: its shard count may not change yet.
CREATE FUNCTION escapement.drill_job_apply(p_definition jsonb, p_digest text, p_person text, p_reason text) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  v_now timestamptz := date_trunc('milliseconds', clock_timestamp());
  v_name text := p_definition->>'name';
  v_job escapement.job;
  v_before escapement.job_version;
  v_id integer;
  v_revived boolean;
BEGIN
  IF p_definition->>'namespace' IS DISTINCT FROM 'drill' OR v_name IS NULL
    OR p_definition->'schedule'->>'kind' IS DISTINCT FROM 'every' OR p_definition ? 'period' OR p_definition ? 'ancestor'
    OR coalesce((p_definition->'schedule'->>'everyMs')::bigint, 0) < 1000
    OR coalesce(p_definition->'shards'->>'by', '') NOT IN ('none', 'hash') THEN
    RAISE EXCEPTION 'not a job of a drill' USING ERRCODE = '42501';
  END IF;
  SELECT * INTO v_job FROM escapement.job WHERE namespace = 'drill' AND name = v_name FOR NO KEY UPDATE;
  IF v_job.job_id IS NULL THEN
    INSERT INTO escapement.job (namespace, name, state, version, known_since, planned_until)
    VALUES ('drill', v_name, 'active', 1, v_now, v_now) RETURNING job_id INTO v_id;
    INSERT INTO escapement.job_version (job_id, version, digest, definition, effective_from, applied_by)
    VALUES (v_id, 1, p_digest, p_definition, v_now, p_person);
    INSERT INTO escapement.operation (person, action, job_id, reason, after)
    VALUES (p_person, 'jobs apply', v_id, p_reason, jsonb_build_object('version', 1, 'digest', p_digest));
    RETURN 'created';
  END IF;
  SELECT * INTO STRICT v_before FROM escapement.job_version WHERE job_id = v_job.job_id AND version = v_job.version;
  IF v_job.state <> 'deleted' AND v_before.digest = p_digest THEN RETURN 'unchanged'; END IF;
  IF coalesce((v_before.definition->'shards'->>'count')::integer, 1) <> coalesce((p_definition->'shards'->>'count')::integer, 1)
    AND EXISTS (SELECT 1 FROM escapement.execution_live l WHERE l.job_id = v_job.job_id
      AND (l.state <> 'planned' OR l.due_at <= clock_timestamp())) THEN
    RETURN 'busy';
  END IF;
  v_revived := v_job.state = 'deleted';
  PERFORM escapement.revoke_planned(v_job.job_id, 'the definition was changed by ' || p_person);
  v_now := date_trunc('milliseconds', clock_timestamp());
  INSERT INTO escapement.job_version (job_id, version, digest, definition, effective_from, applied_by)
  VALUES (v_job.job_id, v_job.version + 1, p_digest, p_definition, v_now, p_person);
  UPDATE escapement.job SET version = v_job.version + 1,
    planned_until = CASE WHEN v_revived THEN v_now ELSE least(planned_until, v_now) END,
    known_since = CASE WHEN v_revived THEN v_now ELSE known_since END,
    state = CASE WHEN v_revived THEN 'active' ELSE state END,
    state_since = CASE WHEN v_revived THEN v_now ELSE state_since END
  WHERE job_id = v_job.job_id;
  INSERT INTO escapement.operation (person, action, job_id, reason, before, after)
  VALUES (p_person, 'jobs apply', v_job.job_id, p_reason,
    jsonb_build_object('version', v_job.version, 'digest', v_before.digest),
    jsonb_build_object('version', v_job.version + 1, 'digest', p_digest));
  RETURN CASE WHEN v_revived THEN 'revived' ELSE 'changed' END;
END $$;

-- Pauses (what is due still runs) or deletes a probe job. False: it was so before, or is gone.
CREATE FUNCTION escapement.drill_job_end(p_name text, p_state text, p_person text, p_reason text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  v_job escapement.job;
BEGIN
  IF p_state IS NULL OR p_state NOT IN ('paused', 'deleted') THEN RAISE EXCEPTION 'a probe job is paused or deleted'; END IF;
  SELECT * INTO v_job FROM escapement.job WHERE namespace = 'drill' AND name = p_name FOR NO KEY UPDATE;
  IF v_job.job_id IS NULL OR v_job.state IN (p_state, 'deleted') THEN RETURN false; END IF;
  IF v_job.state = 'active' THEN
    PERFORM escapement.drill_job_enter(v_job.job_id, 'missed', 'due, but not yet planned when the job was ' || p_state);
  ELSE
    PERFORM escapement.drill_job_enter(v_job.job_id, 'cancelled', 'the job was paused');
  END IF;
  PERFORM escapement.revoke_planned(v_job.job_id, format('the job was %s by %s: %s', p_state, p_person, p_reason));
  UPDATE escapement.job SET state = p_state, state_reason = p_reason, state_since = clock_timestamp() WHERE job_id = v_job.job_id;
  INSERT INTO escapement.operation (person, action, job_id, reason, before, after)
  VALUES (p_person, CASE p_state WHEN 'paused' THEN 'jobs pause' ELSE 'jobs delete' END, v_job.job_id, p_reason,
    jsonb_build_object('state', v_job.state), jsonb_build_object('state', p_state));
  RETURN true;
END $$;

-- Cancels what a deleted probe job still has alive of one fire, as people's command does (src/store/manual-cancel.ts):
-- what waits ends at once, what runs is killed by its executor. Returns how many shards still run, or null: it has ended.
CREATE FUNCTION escapement.drill_job_cancel(p_job_id integer, p_fire_time timestamptz, p_person text, p_reason text) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  v_reason text := format('cancelled by %s: %s', p_person, p_reason);
  v_before jsonb;
  v_running integer;
BEGIN
  PERFORM 1 FROM escapement.job WHERE job_id = p_job_id AND namespace = 'drill' AND state = 'deleted' FOR NO KEY UPDATE;
  IF NOT FOUND THEN RAISE EXCEPTION 'not a deleted job of a drill' USING ERRCODE = '42501'; END IF;
  SELECT jsonb_build_object('status', e.status, 'runNo', e.run_no, 'opened', e.opened_at IS NOT NULL) INTO v_before
    FROM escapement.execution_live l JOIN escapement.execution e ON e.job_id = l.job_id AND e.fire_time = l.fire_time
    WHERE l.job_id = p_job_id AND l.fire_time = p_fire_time;
  IF NOT FOUND THEN RETURN NULL; END IF;
  v_running := escapement.cancel(p_job_id, p_fire_time, v_reason);
  IF v_running IS NULL THEN
    -- It was never opened, or has ended in this very moment.
    DELETE FROM escapement.execution_live WHERE job_id = p_job_id AND fire_time = p_fire_time AND state IN ('planned', 'held');
    IF NOT FOUND THEN RETURN NULL; END IF;
    DELETE FROM escapement.shard s USING escapement.execution e
      WHERE s.job_id = p_job_id AND s.fire_time = p_fire_time AND e.job_id = p_job_id AND e.fire_time = p_fire_time
        AND e.opened_at IS NULL;
    UPDATE escapement.execution SET status = 'cancelled', reason = v_reason
      WHERE job_id = p_job_id AND fire_time = p_fire_time;
    v_running := 0;
  END IF;
  INSERT INTO escapement.operation (person, action, job_id, fire_time, reason, before)
  VALUES (p_person, 'cancel', p_job_id, p_fire_time, p_reason, v_before);
  RETURN v_running;
END $$;

DO $$
BEGIN
  CREATE ROLE escapement_drill NOLOGIN;
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
END $$;
GRANT USAGE ON SCHEMA escapement TO escapement_drill;
GRANT SELECT ON ALL TABLES IN SCHEMA escapement TO escapement_drill;
GRANT INSERT, UPDATE ON escapement.drill_run, escapement.drill_halt TO escapement_drill;
GRANT INSERT ON escapement.operation TO escapement_drill;
REVOKE ALL ON FUNCTION escapement.drill_job_enter, escapement.drill_job_apply, escapement.drill_job_end, escapement.drill_job_cancel
  FROM PUBLIC;
GRANT EXECUTE ON FUNCTION escapement.drill_job_apply, escapement.drill_job_end, escapement.drill_job_cancel TO escapement_drill;
