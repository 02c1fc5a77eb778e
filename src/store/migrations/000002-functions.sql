-- kind: expand
-- Everything that decides a lease, a fence or a claim. Each is one statement for
-- its caller, so that no transaction stays open across a round trip, and each
-- pins the planner: with fresh statistics missing, a hash or sequential plan
-- makes a batch a hundred times slower. Pinning raises the estimated cost of the
-- other plans, which would make just-in-time compilation (about a second) seem
-- worth its while: it is off, too.

-- ---------------------------------------------------------------- partitions

-- Makes the monthly partitions that cover [p_from, p_to], in UTC months. Returns how many are new.
CREATE FUNCTION escapement.ensure_partitions(p_from timestamptz, p_to timestamptz) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  v_month timestamp := date_trunc('month', p_from AT TIME ZONE 'UTC');
  v_name text;
  v_table text;
  v_new integer := 0;
BEGIN
  IF p_to - p_from > interval '10 years' THEN
    RAISE EXCEPTION 'more than ten years of partitions asked for';
  END IF;
  WHILE v_month <= (p_to AT TIME ZONE 'UTC') LOOP
    FOREACH v_table IN ARRAY ARRAY['execution', 'shard', 'shard_attempt', 'frozen_key'] LOOP
      v_name := v_table || to_char(v_month, '_YYYY_MM');
      IF to_regclass('escapement.' || v_name) IS NULL THEN
        PERFORM pg_advisory_xact_lock(hashtext('escapement.partition'));
        -- Asked of the table, not by name: the name's cache does not hear of what another has made meanwhile.
        IF NOT EXISTS (SELECT 1 FROM pg_class c WHERE c.relname = v_name AND c.relnamespace = 'escapement'::regnamespace) THEN
          EXECUTE format('CREATE TABLE escapement.%I PARTITION OF escapement.%I FOR VALUES FROM (%L) TO (%L)',
            v_name, v_table, v_month::text || '+00', (v_month + interval '1 month')::text || '+00');
          v_new := v_new + 1;
        END IF;
      END IF;
    END LOOP;
    v_month := v_month + interval '1 month';
  END LOOP;
  RETURN v_new;
END $$;

-- Drops the months that lie wholly before p_before and raises the low-water mark.
-- A month with an unfinished execution is kept. Returns the names of dropped tables.
CREATE FUNCTION escapement.prune(p_before timestamptz) RETURNS text[]
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  v_cut timestamp := date_trunc('month', p_before AT TIME ZONE 'UTC');
  v_oldest timestamptz;
  v_child record;
  v_dropped text[] := '{}';
BEGIN
  IF p_before > clock_timestamp() THEN
    RAISE EXCEPTION 'records of the future cannot be pruned';
  END IF;
  SELECT min(fire_time) INTO v_oldest FROM escapement.execution_live;
  IF v_oldest IS NOT NULL THEN
    v_cut := least(v_cut, date_trunc('month', v_oldest AT TIME ZONE 'UTC'));
  END IF;
  UPDATE escapement.cluster SET low_water = greatest(low_water, v_cut AT TIME ZONE 'UTC');
  FOR v_child IN
    SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent IN ('escapement.execution'::regclass, 'escapement.shard'::regclass,
                          'escapement.shard_attempt'::regclass, 'escapement.frozen_key'::regclass)
      AND to_date(right(c.relname, 7), 'YYYY_MM') < v_cut
    ORDER BY c.relname
  LOOP
    EXECUTE format('DROP TABLE escapement.%I', v_child.relname);
    v_dropped := v_dropped || v_child.relname::text;
  END LOOP;
  RETURN v_dropped;
END $$;

-- --------------------------------------------------------------------- alerts

CREATE FUNCTION escapement.raise_alert(p_dedup_key text, p_kind text, p_severity text, p_job_id integer,
  p_fire_time timestamptz, p_message text, p_details jsonb DEFAULT NULL) RETURNS void
LANGUAGE sql AS $$
  INSERT INTO escapement.alert_outbox AS a (dedup_key, kind, severity, job_id, fire_time, message, details)
  VALUES (p_dedup_key, p_kind, p_severity, p_job_id, p_fire_time, p_message, p_details)
  ON CONFLICT (dedup_key) DO UPDATE
    SET count = a.count + 1, last_at = clock_timestamp(), message = excluded.message, details = excluded.details
$$;

-- ----------------------------------------------------------------- leadership

-- Takes the leadership if its lease has ended. Returns the new epoch, or null.
CREATE FUNCTION escapement.leader_acquire(p_holder uuid, p_node text, p_host text, p_lease_ms integer)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE v_epoch bigint;
BEGIN
  -- The clock was stepped back: no honest lease reaches further than its own length.
  UPDATE escapement.leader SET expires_at = clock_timestamp() + make_interval(secs => lease_ms / 1000.0)
    WHERE expires_at > clock_timestamp() + make_interval(secs => lease_ms / 1000.0);
  UPDATE escapement.leader
    SET holder = p_holder, node = p_node, host = p_host, epoch = epoch + 1, lease_ms = p_lease_ms,
        acquired_at = clock_timestamp(), expires_at = clock_timestamp() + make_interval(secs => p_lease_ms / 1000.0)
    WHERE expires_at < clock_timestamp()
    RETURNING epoch INTO v_epoch;
  RETURN v_epoch;
END $$;

-- Renews the leadership. Returns the database's time, or null: you have lost it.
CREATE FUNCTION escapement.leader_renew(p_holder uuid, p_epoch bigint) RETURNS timestamptz LANGUAGE sql AS $$
  UPDATE escapement.leader SET expires_at = clock_timestamp() + make_interval(secs => lease_ms / 1000.0)
  WHERE holder = p_holder AND epoch = p_epoch AND expires_at > clock_timestamp()
  RETURNING clock_timestamp()
$$;

CREATE FUNCTION escapement.leader_release(p_holder uuid, p_epoch bigint) RETURNS boolean LANGUAGE sql AS $$
  UPDATE escapement.leader SET expires_at = '-infinity' WHERE holder = p_holder AND epoch = p_epoch RETURNING true
$$;

-- Locks the leader row and proves the epoch, or fails with SQLSTATE ES001.
-- FOR NO KEY UPDATE: it blocks a takeover until the write is done, and queues fairly with the renewal.
CREATE FUNCTION escapement.leader_fence(p_holder uuid, p_epoch bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM escapement.leader
    WHERE holder = p_holder AND epoch = p_epoch AND expires_at > clock_timestamp()
    FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'leadership lost' USING ERRCODE = 'ES001';
  END IF;
END $$;

-- ------------------------------------------------------------------- planning

-- Moves cursors and inserts the fires between the old and the new place, in one
-- fenced statement. A job whose cursor, version or state has moved meanwhile is
-- left alone, with all its fires. Returns one row a job that moved.
--   p_cursors: [{job_id, version, state, from, to, missed_since}]
--   p_fires:   [{job_id, fire_time, status, reason, trigger_type, period_key, chain_after, shard_count,
--                class, max_tries, misfire_threshold_ms, start_within_ms, blocking, continue_fenced, freezes, version, digest}]
CREATE FUNCTION escapement.plan(p_holder uuid, p_epoch bigint, p_cursors jsonb, p_fires jsonb)
RETURNS TABLE (job_id integer, planned integer, not_planned integer)
LANGUAGE plpgsql SET jit = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
#variable_conflict use_column
BEGIN
  PERFORM escapement.leader_fence(p_holder, p_epoch);
  RETURN QUERY
  WITH moved AS (
    UPDATE escapement.job j SET planned_until = c."to"
    FROM jsonb_to_recordset(p_cursors) AS c(job_id integer, version integer, state text, "from" timestamptz, "to" timestamptz,
      missed_since text)
    WHERE j.job_id = c.job_id AND j.version = c.version AND j.state = c.state AND j.planned_until = c."from"
    RETURNING j.job_id, c.missed_since
  ), fire AS MATERIALIZED (
    SELECT f.* FROM jsonb_to_recordset(p_fires) AS f(job_id integer, fire_time timestamptz, status text, reason text,
      trigger_type text, period_key text, chain_after timestamptz, shard_count integer, class smallint,
      max_tries smallint, misfire_threshold_ms bigint, start_within_ms bigint, blocking text, continue_fenced boolean, freezes boolean,
      version integer, digest text)
    JOIN moved m ON m.job_id = f.job_id
  ), period AS (
    INSERT INTO escapement.job_period AS p (job_id, period_key, fire_time)
    SELECT f.job_id, f.period_key, f.fire_time FROM fire f
    WHERE f.status = 'planned' AND f.period_key IS NOT NULL ORDER BY f.job_id, f.fire_time
    ON CONFLICT (job_id, period_key) DO NOTHING
    RETURNING p.job_id, p.period_key, p.fire_time
  ), judged AS MATERIALIZED (
    SELECT f.*, f.status = 'planned' AND f.period_key IS NOT NULL AND p.job_id IS NULL AS period_taken
    FROM fire f LEFT JOIN period p ON p.job_id = f.job_id AND p.period_key = f.period_key AND p.fire_time = f.fire_time
  ), inserted AS (
    INSERT INTO escapement.execution AS e (job_id, fire_time, trigger_type, status, period_key, job_version, digest,
      shard_count, schedule_time, epoch, reason)
    SELECT g.job_id, g.fire_time, g.trigger_type, CASE WHEN g.period_taken THEN 'blocked' ELSE g.status END,
      CASE WHEN g.period_taken OR g.status <> 'planned' THEN NULL ELSE g.period_key END, g.version, g.digest, g.shard_count,
      g.fire_time, p_epoch,
      CASE WHEN g.period_taken THEN 'period ' || g.period_key || ' already has an execution' ELSE g.reason END
    FROM judged g
    -- A revoked execution never ran; the same fire may be planned again.
    ON CONFLICT (job_id, fire_time) DO UPDATE SET status = excluded.status, trigger_type = excluded.trigger_type,
      period_key = excluded.period_key, job_version = excluded.job_version, digest = excluded.digest,
      shard_count = excluded.shard_count, epoch = excluded.epoch, reason = excluded.reason, revoked_at = NULL,
      planned_at = clock_timestamp()
      WHERE e.revoked_at IS NOT NULL AND e.opened_at IS NULL
    RETURNING e.job_id, e.fire_time, e.status
  ), due AS (
    INSERT INTO escapement.execution_live AS l (job_id, fire_time, state, due_at, trigger_type, chain_after, catch_up,
      remaining, class, max_tries, misfire_threshold_ms, start_within_ms, blocking, continue_fenced, freezes)
    SELECT g.job_id, g.fire_time, 'planned', g.fire_time, g.trigger_type, g.chain_after, g.trigger_type = 'misfire',
      g.shard_count + g.freezes::integer, g.class, g.max_tries, g.misfire_threshold_ms,
      g.start_within_ms, g.blocking, g.continue_fenced, g.freezes
    FROM inserted i JOIN judged g ON g.job_id = i.job_id AND g.fire_time = i.fire_time
    WHERE i.status = 'planned'
    RETURNING l.job_id, l.fire_time
  ), shards AS (
    INSERT INTO escapement.shard (job_id, fire_time, shard_no)
    SELECT g.job_id, g.fire_time, n
    FROM inserted i JOIN judged g ON g.job_id = i.job_id AND g.fire_time = i.fire_time,
      generate_series(CASE WHEN g.freezes THEN -1 ELSE 0 END, g.shard_count - 1) n
    WHERE i.status = 'planned'
  ), alerts AS (
    INSERT INTO escapement.alert_outbox AS a (dedup_key, kind, severity, job_id, fire_time, message, details)
    -- A backlog is written in many statements: they share the key, and so the alert.
    SELECT 'missed:' || g.job_id || ':' || coalesce(m.missed_since, min(g.fire_time)::text), 'missed', 'warning', g.job_id,
      min(g.fire_time), count(*) || ' fire(s) missed: ' || min(g.reason), jsonb_build_object('count', count(*), 'last', max(g.fire_time))
    FROM inserted i JOIN judged g ON g.job_id = i.job_id AND g.fire_time = i.fire_time JOIN moved m ON m.job_id = g.job_id
    WHERE i.status = 'missed' GROUP BY g.job_id, m.missed_since
    ON CONFLICT (dedup_key) DO UPDATE SET count = a.count + 1, last_at = clock_timestamp(),
      message = (a.details ->> 'count')::integer + (excluded.details ->> 'count')::integer || substr(excluded.message, strpos(excluded.message, ' ')),
      details = excluded.details || jsonb_build_object('count', (a.details ->> 'count')::integer + (excluded.details ->> 'count')::integer)
  )
  SELECT m.job_id,
    (SELECT count(*)::integer FROM inserted i WHERE i.job_id = m.job_id AND i.status = 'planned'),
    (SELECT count(*)::integer FROM inserted i WHERE i.job_id = m.job_id AND i.status <> 'planned')
  FROM moved m;
END $$;

-- Takes back what was planned for the future and is not open yet, and sets the cursor to the same
-- instant, so that no fire between two readings of the clock is lost. The caller holds the job's row lock.
CREATE FUNCTION escapement.revoke_planned(p_job_id integer, p_reason text) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  v_now timestamptz := date_trunc('milliseconds', clock_timestamp());
  v_count integer;
BEGIN
  WITH gone AS (
    DELETE FROM escapement.execution_live l
    WHERE l.job_id = p_job_id AND l.state = 'planned' AND l.trigger_type = 'schedule' AND NOT l.queued
      AND l.fire_time > v_now
      -- A rerun of an earlier run is not a plan.
      AND EXISTS (SELECT 1 FROM escapement.execution e
                  WHERE e.job_id = l.job_id AND e.fire_time = l.fire_time AND e.opened_at IS NULL)
    RETURNING l.job_id, l.fire_time
  ), shards AS (
    DELETE FROM escapement.shard s USING gone g WHERE s.job_id = g.job_id AND s.fire_time = g.fire_time
  ), periods AS (
    DELETE FROM escapement.job_period p USING gone g WHERE p.job_id = g.job_id AND p.fire_time = g.fire_time
  ), marked AS (
    UPDATE escapement.execution e SET status = 'cancelled', reason = p_reason, revoked_at = clock_timestamp(), period_key = NULL
    FROM gone g WHERE e.job_id = g.job_id AND e.fire_time = g.fire_time
  )
  SELECT count(*)::integer INTO v_count FROM gone;
  UPDATE escapement.job SET planned_until = least(planned_until, v_now) WHERE job_id = p_job_id;
  RETURN v_count;
END $$;

-- -------------------------------------------------------------------- opening

-- The instant by which an execution must have started: from its fire time, or from its turn if it had to wait in line.
CREATE FUNCTION escapement.start_by(p_live escapement.execution_live) RETURNS timestamptz LANGUAGE sql AS $$
  SELECT CASE WHEN p_live.trigger_type = 'schedule' AND p_live.start_within_ms IS NOT NULL THEN
    CASE WHEN p_live.queued THEN clock_timestamp() ELSE p_live.fire_time END
      + make_interval(secs => p_live.start_within_ms / 1000.0) END
$$;

-- Takes back what was opened in time but not started in time (nobody was there to claim it). It is
-- planned again, late, and goes through the misfire policy. The caller holds the job's row lock.
CREATE FUNCTION escapement.unopen_overdue(p_job_id integer) RETURNS integer
LANGUAGE plpgsql SET jit = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off AS $$
DECLARE v_count integer;
BEGIN
  -- Shards first, as everybody does: a claim that was faster has set `started` when we get here.
  PERFORM 1 FROM escapement.execution_live e
    JOIN escapement.shard_live l ON l.job_id = e.job_id AND l.fire_time = e.fire_time
    WHERE e.job_id = p_job_id AND e.state = 'open' AND NOT e.started AND e.start_by < (SELECT clock_timestamp())
    ORDER BY l.fire_time, l.shard_no FOR UPDATE OF l;
  WITH back AS (
    UPDATE escapement.execution_live e SET state = 'planned', queued = false, start_by = NULL
    WHERE e.job_id = p_job_id AND e.state = 'open' AND NOT e.started AND e.start_by < (SELECT clock_timestamp())
    RETURNING e.job_id, e.fire_time
  ), shards AS (
    DELETE FROM escapement.shard_live l USING back b WHERE l.job_id = b.job_id AND l.fire_time = b.fire_time
  ), record AS (
    UPDATE escapement.execution x SET status = 'planned', opened_at = NULL FROM back b
    WHERE x.job_id = b.job_id AND x.fire_time = b.fire_time
  )
  SELECT count(*)::integer INTO v_count FROM back;
  RETURN v_count;
END $$;

-- Makes the shards of one planned execution claimable. The caller holds the job's row lock.
CREATE FUNCTION escapement.open_one(p_job_id integer, p_fire_time timestamptz) RETURNS boolean
LANGUAGE plpgsql SET jit = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off AS $$
DECLARE v_live escapement.execution_live;
BEGIN
  UPDATE escapement.execution_live l SET state = 'open', start_by = escapement.start_by(l)
    WHERE job_id = p_job_id AND fire_time = p_fire_time AND state IN ('planned', 'held')
    RETURNING * INTO v_live;
  IF NOT FOUND THEN RETURN false; END IF;
  UPDATE escapement.execution SET status = 'pending', opened_at = clock_timestamp(), reason = NULL
    WHERE job_id = p_job_id AND fire_time = p_fire_time;
  INSERT INTO escapement.shard_live (job_id, fire_time, shard_no, class, catch_up, continue_fenced, max_tries, attempt, run_after, start_by)
    SELECT s.job_id, s.fire_time, s.shard_no, v_live.class, v_live.catch_up, v_live.continue_fenced, v_live.max_tries,
      s.attempt, clock_timestamp(), v_live.start_by
    FROM escapement.shard s
    WHERE s.job_id = p_job_id AND s.fire_time = p_fire_time AND s.status = 'pending'
      AND (s.shard_no = -1) = v_live.freezes;
  RETURN true;
END $$;

-- Opens what has come due and needs no decision: on time, and nothing of the same
-- job in the way. What does need one is returned in `undecided`; the caller takes
-- it through the policies, one job at a time. Every job's row lock is taken, so
-- that nothing is ever decided by two at once.
CREATE FUNCTION escapement.open_due(p_limit integer)
RETURNS TABLE (opened integer, undecided_jobs integer[], next_due_ms double precision, db_now timestamptz)
LANGUAGE plpgsql SET jit = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
  v_jobs integer[];
  v_opened integer := 0;
  v_undecided integer[] := '{}';
BEGIN
  v_jobs := ARRAY(
    SELECT DISTINCT d.job_id FROM (
      SELECT l.job_id FROM escapement.execution_live l
      WHERE l.state = 'planned' AND l.due_at <= (SELECT clock_timestamp()) ORDER BY l.due_at LIMIT p_limit) d
    ORDER BY d.job_id);
  v_undecided := ARRAY(
    SELECT DISTINCT o.job_id FROM (
      SELECT l.job_id FROM escapement.execution_live l
      WHERE l.state = 'open' AND NOT l.started AND l.start_by < (SELECT clock_timestamp()) ORDER BY l.start_by LIMIT p_limit) o);
  IF cardinality(v_jobs) > 0 THEN
    v_jobs := ARRAY(
      SELECT j.job_id FROM escapement.job j WHERE j.job_id = ANY (v_jobs) ORDER BY j.job_id FOR NO KEY UPDATE SKIP LOCKED);
    WITH due AS MATERIALIZED (
      SELECT DISTINCT ON (l.job_id) l.* FROM unnest(v_jobs) w(job_id) JOIN escapement.execution_live l ON l.job_id = w.job_id
      WHERE l.state = 'planned' AND l.due_at <= (SELECT clock_timestamp()) ORDER BY l.job_id, l.fire_time
    ), judged AS MATERIALIZED (
      SELECT d.*, d.chain_after IS NULL
        AND (d.trigger_type <> 'schedule' OR d.queued
             OR clock_timestamp() - d.fire_time <= make_interval(secs => d.misfire_threshold_ms / 1000.0))
        AND NOT EXISTS (
          SELECT 1 FROM escapement.execution_live o
          WHERE o.job_id = d.job_id AND o.fire_time <> d.fire_time
            AND (o.state = 'held' OR o.state = 'open' AND d.blocking <> 'allow')) AS clear
      FROM due d
    ), opening AS (
      UPDATE escapement.execution_live l SET state = 'open', start_by = escapement.start_by(l) FROM judged g
      WHERE g.clear AND l.job_id = g.job_id AND l.fire_time = g.fire_time
      RETURNING l.job_id, l.fire_time, l.start_by
    ), record AS (
      UPDATE escapement.execution e SET status = 'pending', opened_at = clock_timestamp(), reason = NULL FROM judged g
      WHERE g.clear AND e.job_id = g.job_id AND e.fire_time = g.fire_time
    ), ready AS (
      INSERT INTO escapement.shard_live (job_id, fire_time, shard_no, class, catch_up, continue_fenced, max_tries, attempt, run_after, start_by)
      SELECT s.job_id, s.fire_time, s.shard_no, g.class, g.catch_up, g.continue_fenced, g.max_tries, s.attempt, g.due_at, o.start_by
      FROM opening o JOIN judged g ON g.job_id = o.job_id AND g.fire_time = o.fire_time CROSS JOIN LATERAL (
        SELECT * FROM escapement.shard s
        WHERE s.job_id = g.job_id AND s.fire_time = g.fire_time AND s.status = 'pending' AND (s.shard_no = -1) = g.freezes) s
    )
    SELECT (SELECT count(*) FROM opening), v_undecided || ARRAY(SELECT g.job_id FROM judged g WHERE NOT g.clear AND g.job_id <> ALL (v_undecided))
      INTO v_opened, v_undecided;
  END IF;
  RETURN QUERY SELECT v_opened, v_undecided,
    (SELECT extract(epoch FROM min(l.due_at) - clock_timestamp()) * 1000 FROM escapement.execution_live l
     WHERE l.state = 'planned')::double precision,
    clock_timestamp();
END $$;

-- ------------------------------------------------------------------ executors

-- Renews an executor's lease. Returns the database's time, or null: the lease has ended.
CREATE FUNCTION escapement.executor_renew(p_incarnation uuid, p_offset_ms double precision) RETURNS timestamptz LANGUAGE sql AS $$
  UPDATE escapement.executor
  SET lease_until = clock_timestamp() + make_interval(secs => lease_ms / 1000.0), offset_ms = p_offset_ms
  WHERE incarnation = p_incarnation AND lease_until > clock_timestamp() AND state IN ('active', 'draining')
  RETURNING clock_timestamp()
$$;

-- Claims up to p_limit shards of one class. Adds one to attempt and hands out a new fence token.
CREATE FUNCTION escapement.claim(p_incarnation uuid, p_class smallint, p_limit integer, p_catch_up boolean, p_share double precision)
RETURNS TABLE (job_id integer, fire_time timestamptz, shard_no integer, attempt integer, tries smallint, max_tries smallint,
               fence_token bigint, catch_up boolean)
LANGUAGE plpgsql SET jit = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
  v_limit integer := p_limit;
  v_high bigint;
  v_jobs integer[];
  v_fires timestamptz[];
  v_claimed tid[];
BEGIN
  -- FOR SHARE: a claim and the reaping of the same executor must not pass each other.
  PERFORM 1 FROM escapement.executor
    WHERE incarnation = p_incarnation AND lease_until > clock_timestamp() AND state = 'active' FOR SHARE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'executor lease lost' USING ERRCODE = 'ES002';
  END IF;
  IF p_catch_up THEN
    PERFORM 1 FROM escapement.catch_up_gate FOR UPDATE;
    SELECT least(p_limit, greatest(1, floor(p_share * coalesce(sum(
             CASE p_class WHEN 1 THEN x.cpu_slots WHEN 2 THEN x.memory_slots ELSE x.io_slots END), 0))::integer)
           - (SELECT count(*)::integer FROM escapement.shard_live l
              WHERE l.owner IS NOT NULL AND l.catch_up AND l.class = p_class))
      INTO v_limit
      FROM escapement.executor x WHERE x.state = 'active' AND x.lease_until > clock_timestamp();
    IF v_limit <= 0 THEN RETURN; END IF;
  END IF;
  SELECT c.generation::bigint << 40 INTO v_high FROM escapement.cluster c;
  v_claimed := ARRAY(
    SELECT l.ctid FROM escapement.shard_live l
    WHERE l.owner IS NULL AND l.class = p_class AND l.catch_up = p_catch_up AND l.run_after <= (SELECT clock_timestamp())
      AND CASE WHEN l.start_by IS NULL OR l.start_by >= (SELECT clock_timestamp()) THEN true
               -- Too late to start, not too late to go on.
               ELSE EXISTS (SELECT 1 FROM escapement.execution_live e
                            WHERE e.job_id = l.job_id AND e.fire_time = l.fire_time AND (e.started OR e.start_by IS NULL)) END
    ORDER BY l.run_after LIMIT v_limit FOR UPDATE SKIP LOCKED);
  IF cardinality(v_claimed) = 0 THEN RETURN; END IF;
  -- The first claim of an execution starts it.
  SELECT array_agg(d.job_id), array_agg(d.fire_time) INTO v_jobs, v_fires FROM (
    SELECT e.job_id, e.fire_time FROM (
      SELECT DISTINCT l.job_id, l.fire_time FROM escapement.shard_live l WHERE l.ctid = ANY (v_claimed)) c
    JOIN escapement.execution_live e ON e.job_id = c.job_id AND e.fire_time = c.fire_time AND NOT e.started
    ORDER BY e.job_id, e.fire_time FOR NO KEY UPDATE OF e) d;
  IF v_jobs IS NOT NULL THEN
    WITH started AS (
      UPDATE escapement.execution_live e SET started = true FROM unnest(v_jobs, v_fires) w(job_id, fire_time)
      WHERE e.job_id = w.job_id AND e.fire_time = w.fire_time AND NOT e.started
      RETURNING e.job_id, e.fire_time
    )
    UPDATE escapement.execution e
      SET status = 'running', actual_start_time = coalesce(e.actual_start_time, clock_timestamp()),
          missed_seconds = coalesce(e.missed_seconds, greatest(0, extract(epoch FROM clock_timestamp() - e.schedule_time)))
      FROM started s WHERE e.job_id = s.job_id AND e.fire_time = s.fire_time;
  END IF;
  RETURN QUERY
  UPDATE escapement.shard_live l
    SET owner = p_incarnation, attempt = l.attempt + 1, tries = l.tries + 1, start_time = clock_timestamp(), interrupted = false,
        fence_token = v_high | nextval('escapement.fence_sequence')
    WHERE l.ctid = ANY (v_claimed)
    RETURNING l.job_id, l.fire_time, l.shard_no, l.attempt, l.tries, l.max_tries, l.fence_token, l.catch_up;
END $$;

-- Writes the outcome of shards whose live rows the caller has locked.
--   outcome: success | failed | cancelled end the shard;
--            retry | interrupted | lease-expired put it back.
CREATE FUNCTION escapement.settle(p_rows tid[], p_outcomes text[], p_delays_ms bigint[], p_counts bigint[], p_exits integer[],
  p_errors text[]) RETURNS void
LANGUAGE plpgsql SET jit = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
  v_jobs integer[];
  v_fires timestamptz[];
  v_done integer[];
  v_failed integer[];
  v_cancelled integer[];
  v_thaw integer[];
BEGIN
  WITH asked AS MATERIALIZED (
    SELECT l.*, a.delay_ms, a.rows, a.exit_code, a.error, l.ctid AS place,
      CASE
        -- A cancelled shard is not put back, and a cancelled freezing step does not let its shards start.
        WHEN l.cancel_requested AND (a.outcome IN ('retry', 'interrupted', 'lease-expired') OR l.shard_no = -1 AND a.outcome = 'success')
          THEN 'cancelled'
        -- The cap holds whatever the executor thinks.
        WHEN a.outcome IN ('retry', 'lease-expired') AND l.tries >= l.max_tries THEN 'failed'
        ELSE a.outcome END AS outcome
    FROM unnest(p_rows, p_outcomes, p_delays_ms, p_counts, p_exits, p_errors) AS a(place, outcome, delay_ms, rows, exit_code, error)
    CROSS JOIN LATERAL (SELECT l.ctid, l.* FROM escapement.shard_live l WHERE l.ctid = a.place) l
  ), gone AS (
    DELETE FROM escapement.shard_live WHERE ctid = ANY (ARRAY(
      SELECT a.place FROM asked a WHERE a.outcome IN ('success', 'failed', 'cancelled')))
  ), record AS (
    UPDATE escapement.shard s SET status = a.outcome, attempt = a.attempt, owner = a.owner, fence_token = a.fence_token,
      start_time = a.start_time, end_time = clock_timestamp(), rows = a.rows, error = a.error
    FROM asked a
    WHERE a.outcome IN ('success', 'failed', 'cancelled')
      AND s.job_id = a.job_id AND s.fire_time = a.fire_time AND s.shard_no = a.shard_no
  ), back AS (
    UPDATE escapement.shard_live l SET owner = NULL, start_time = NULL,
      tries = l.tries - (a.outcome = 'interrupted')::integer, interrupted = a.outcome = 'interrupted',
      run_after = clock_timestamp() + make_interval(secs => a.delay_ms / 1000.0)
    FROM asked a
    WHERE l.ctid = a.place AND a.outcome IN ('retry', 'interrupted', 'lease-expired')
  ), attempts AS (
    INSERT INTO escapement.shard_attempt (job_id, fire_time, shard_no, attempt, outcome, owner, fence_token, start_time, rows, exit_code, error)
    SELECT a.job_id, a.fire_time, a.shard_no, a.attempt, a.outcome, a.owner, a.fence_token, a.start_time, a.rows, a.exit_code, a.error
    FROM asked a WHERE a.outcome <> 'success' AND a.attempt > 0
    ON CONFLICT DO NOTHING
  ), points AS (
    DELETE FROM escapement.shard_checkpoint c USING asked a
    WHERE a.outcome = 'success' AND c.job_id = a.job_id AND c.fire_time = a.fire_time AND c.shard_no = a.shard_no
  ), exhausted AS (
    INSERT INTO escapement.alert_outbox AS o (dedup_key, kind, severity, job_id, fire_time, message, details)
    SELECT 'shard-failed:' || a.job_id || ':' || a.fire_time, 'shard-failed', 'critical', a.job_id, a.fire_time,
      count(*) || ' shard(s) failed for good: ' || coalesce(min(a.error), 'no reason given'),
      jsonb_build_object('shards', jsonb_agg(a.shard_no))
    FROM asked a WHERE a.outcome = 'failed' GROUP BY a.job_id, a.fire_time
    ON CONFLICT (dedup_key) DO UPDATE SET count = o.count + 1, last_at = clock_timestamp(), message = excluded.message
  ), grouped AS (
    SELECT a.job_id, a.fire_time, count(*) FILTER (WHERE a.outcome IN ('success', 'failed', 'cancelled')) AS done,
      count(*) FILTER (WHERE a.outcome = 'failed') AS failed, count(*) FILTER (WHERE a.outcome = 'cancelled') AS cancelled,
      count(*) FILTER (WHERE a.shard_no = -1 AND a.outcome = 'success') AS thaw
    FROM asked a GROUP BY a.job_id, a.fire_time ORDER BY a.job_id, a.fire_time
  )
  SELECT array_agg(g.job_id), array_agg(g.fire_time), array_agg(g.done), array_agg(g.failed), array_agg(g.cancelled), array_agg(g.thaw)
    INTO v_jobs, v_fires, v_done, v_failed, v_cancelled, v_thaw FROM grouped g;
  IF v_jobs IS NULL THEN RETURN; END IF;

  -- Roll-up. Rows are locked in one order by everybody, so that two batches cannot deadlock.
  PERFORM 1 FROM unnest(v_jobs, v_fires) w(job_id, fire_time)
    JOIN escapement.execution_live e ON e.job_id = w.job_id AND e.fire_time = w.fire_time
    ORDER BY e.job_id, e.fire_time FOR NO KEY UPDATE OF e;
  UPDATE escapement.execution_live e
    SET remaining = e.remaining - w.done, failed = e.failed + w.failed, cancelled = e.cancelled + w.cancelled
    FROM unnest(v_jobs, v_fires, v_done, v_failed, v_cancelled) w(job_id, fire_time, done, failed, cancelled)
    WHERE e.job_id = w.job_id AND e.fire_time = w.fire_time AND w.done > 0;

  -- The input is frozen: the shards proper may start.
  IF 1 = ANY (v_thaw) THEN
    INSERT INTO escapement.shard_live (job_id, fire_time, shard_no, class, catch_up, continue_fenced, max_tries, attempt, run_after)
    SELECT s.job_id, s.fire_time, s.shard_no, e.class, e.catch_up, e.continue_fenced, e.max_tries, s.attempt, clock_timestamp()
    FROM unnest(v_jobs, v_fires, v_thaw) w(job_id, fire_time, thaw)
    JOIN escapement.execution_live e ON e.job_id = w.job_id AND e.fire_time = w.fire_time
    CROSS JOIN LATERAL (SELECT * FROM escapement.shard s WHERE s.job_id = e.job_id AND s.fire_time = e.fire_time
                          AND s.status = 'pending' AND s.shard_no >= 0) s
    WHERE w.thaw = 1;
    UPDATE escapement.execution_live e SET freezes = false FROM unnest(v_jobs, v_fires, v_thaw) w(job_id, fire_time, thaw)
    WHERE w.thaw = 1 AND e.job_id = w.job_id AND e.fire_time = w.fire_time;
  END IF;

  PERFORM escapement.end_executions(v_jobs, v_fires);

  -- Nothing of it runs any more, but it is not finished: it was interrupted.
  IF 'interrupted' = ANY (p_outcomes) THEN
    WITH idle AS (
      -- It has begun, so no limit for its start holds any more.
      UPDATE escapement.execution_live e SET started = false, start_within_ms = NULL, start_by = NULL FROM unnest(v_jobs, v_fires) w(job_id, fire_time)
      WHERE e.job_id = w.job_id AND e.fire_time = w.fire_time AND e.started
        AND NOT EXISTS (SELECT 1 FROM escapement.shard_live l
                        WHERE l.job_id = e.job_id AND l.fire_time = e.fire_time AND l.owner IS NOT NULL)
      RETURNING e.job_id, e.fire_time)
    UPDATE escapement.execution x SET status = 'interrupted' FROM idle i
    WHERE x.job_id = i.job_id AND x.fire_time = i.fire_time;
  END IF;
END $$;

-- Ends the named executions that have no shard left, and lets go what waited for them.
-- A freeze that failed ends its execution, too: its shards cannot run.
CREATE FUNCTION escapement.end_executions(p_jobs integer[], p_fires timestamptz[]) RETURNS void
LANGUAGE plpgsql SET jit = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
  v_jobs integer[];
BEGIN
  WITH gone AS (
    DELETE FROM escapement.execution_live e USING unnest(p_jobs, p_fires) w(job_id, fire_time)
    WHERE e.job_id = w.job_id AND e.fire_time = w.fire_time
      AND (e.remaining <= 0 OR e.freezes AND e.failed + e.cancelled > 0)
    RETURNING e.job_id, e.fire_time, e.failed, e.cancelled, e.remaining
  ), record AS (
    UPDATE escapement.execution x
    SET status = CASE WHEN g.cancelled > 0 THEN 'cancelled' WHEN g.failed > 0 THEN 'failed' ELSE 'success' END,
        actual_end_time = clock_timestamp(),
        duration_ms = extract(epoch FROM clock_timestamp() - x.actual_start_time) * 1000,
        reason = CASE WHEN g.cancelled > 0 THEN coalesce(x.reason, 'cancelled')
                      WHEN g.failed > 0 THEN g.failed || ' shard(s) failed' ELSE NULL END
    FROM gone g WHERE x.job_id = g.job_id AND x.fire_time = g.fire_time
  )
  SELECT array_agg(DISTINCT g.job_id) INTO v_jobs FROM gone g;
  IF v_jobs IS NOT NULL THEN
    UPDATE escapement.execution_live h SET state = 'planned', due_at = clock_timestamp()
    FROM unnest(v_jobs) w(job_id) WHERE h.job_id = w.job_id AND h.state = 'held';
  END IF;
END $$;

-- Ends attempts. Every outcome carries the fence token of its claim; one that no
-- longer holds its shard, or whose executor's lease has ended, changes nothing and
-- is recorded as a stale write. Returns the positions (from 1) that were refused.
CREATE FUNCTION escapement.complete(p_incarnation uuid, p_jobs integer[], p_fires timestamptz[], p_shards integer[],
  p_tokens bigint[], p_outcomes text[], p_delays_ms bigint[], p_counts bigint[], p_exits integer[], p_errors text[])
RETURNS integer[]
LANGUAGE plpgsql SET jit = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
  v_leased boolean;
  v_places tid[];
  v_refused integer[];
  v_outcomes text[];
  v_delays bigint[];
  v_counts bigint[];
  v_exits integer[];
  v_errors text[];
BEGIN
  v_leased := EXISTS (SELECT 1 FROM escapement.executor
    WHERE incarnation = p_incarnation AND lease_until > clock_timestamp() AND state IN ('active', 'draining'));
  WITH asked AS MATERIALIZED (
    SELECT * FROM unnest(p_jobs, p_fires, p_shards, p_tokens, p_outcomes, p_delays_ms, p_counts, p_exits, p_errors)
      WITH ORDINALITY AS a(job_id, fire_time, shard_no, token, outcome, delay_ms, rows, exit_code, error, position)
  ), found AS MATERIALIZED (
    SELECT a.*, l.place FROM asked a LEFT JOIN LATERAL (
      SELECT l.ctid AS place FROM escapement.shard_live l
      WHERE l.job_id = a.job_id AND l.fire_time = a.fire_time AND l.shard_no = a.shard_no
        AND l.owner = p_incarnation AND l.fence_token = a.token AND (v_leased OR l.continue_fenced)
      LIMIT 1 FOR UPDATE) l ON true
  ), held AS MATERIALIZED (
    -- Of two outcomes for one claim in the same batch the first counts, as it would in two batches.
    SELECT f.job_id, f.fire_time, f.shard_no, f.token, f.outcome, f.delay_ms, f.rows, f.exit_code, f.error, f.position,
      CASE WHEN row_number() OVER (PARTITION BY f.job_id, f.fire_time, f.shard_no, f.token ORDER BY f.position) = 1
        THEN f.place END AS place
    FROM found f
  ), stale AS (
    INSERT INTO escapement.stale_write (job_id, fire_time, shard_no, owner, fence_token, what)
    SELECT h.job_id, h.fire_time, h.shard_no, p_incarnation, h.token, h.outcome FROM held h WHERE h.place IS NULL
  )
  SELECT array_agg(h.place) FILTER (WHERE h.place IS NOT NULL),
    array_agg(h.outcome) FILTER (WHERE h.place IS NOT NULL), array_agg(h.delay_ms) FILTER (WHERE h.place IS NOT NULL),
    array_agg(h.rows) FILTER (WHERE h.place IS NOT NULL), array_agg(h.exit_code) FILTER (WHERE h.place IS NOT NULL),
    array_agg(h.error) FILTER (WHERE h.place IS NOT NULL),
    coalesce(array_agg(h.position::integer) FILTER (WHERE h.place IS NULL), '{}')
    INTO v_places, v_outcomes, v_delays, v_counts, v_exits, v_errors, v_refused FROM held h;
  IF v_places IS NOT NULL THEN
    PERFORM escapement.settle(v_places, v_outcomes, v_delays, v_counts, v_exits, v_errors);
  END IF;
  RETURN v_refused;
END $$;

-- Puts back everything an executor held. One that was asked to cancel is cancelled;
-- one that has used up its tries has failed.
CREATE FUNCTION escapement.release_shards(p_incarnation uuid) RETURNS integer
LANGUAGE plpgsql SET jit = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off AS $$
DECLARE
  v_places tid[];
  v_count integer;
BEGIN
  v_places := ARRAY(SELECT l.ctid FROM escapement.shard_live l WHERE l.owner = p_incarnation FOR UPDATE);
  v_count := cardinality(v_places);
  IF v_count > 0 THEN
    PERFORM escapement.settle(v_places, array_fill('lease-expired'::text, ARRAY[v_count]), array_fill(0::bigint, ARRAY[v_count]), array_fill(NULL::bigint, ARRAY[v_count]),
      array_fill(NULL::integer, ARRAY[v_count]), array_fill('executor gone: its lease ended'::text, ARRAY[v_count]));
  END IF;
  RETURN v_count;
END $$;

-- Declares an executor dead whose lease has ended and has not moved since the caller saw it.
-- Returns how many shards were put back, or null: it is alive, or someone else was faster.
CREATE FUNCTION escapement.reap(p_incarnation uuid, p_seen_lease_until timestamptz) RETURNS integer LANGUAGE plpgsql AS $$
BEGIN
  UPDATE escapement.executor SET state = 'reaped', ended_at = clock_timestamp()
    WHERE incarnation = p_incarnation AND lease_until = p_seen_lease_until AND lease_until < clock_timestamp()
      AND state IN ('active', 'draining');
  IF NOT FOUND THEN RETURN NULL; END IF;
  RETURN escapement.release_shards(p_incarnation);
END $$;

-- Takes over from an earlier incarnation on the same host and boot whose process
-- is known to be gone, without waiting for its lease.
CREATE FUNCTION escapement.take_over(p_incarnation uuid, p_predecessor uuid) RETURNS integer LANGUAGE plpgsql AS $$
BEGIN
  UPDATE escapement.executor o SET state = 'reaped', ended_at = clock_timestamp()
    FROM escapement.executor me
    WHERE me.incarnation = p_incarnation AND o.incarnation = p_predecessor AND o.incarnation <> me.incarnation
      AND o.host = me.host AND o.boot_id = me.boot_id AND o.state IN ('active', 'draining');
  IF NOT FOUND THEN RETURN NULL; END IF;
  RETURN escapement.release_shards(p_predecessor);
END $$;

-- Asks that an open execution be cancelled. What is not running ends at once; what
-- runs ends when its executor has killed it, or with that executor's lease.
CREATE FUNCTION escapement.cancel(p_job_id integer, p_fire_time timestamptz, p_reason text) RETURNS integer
LANGUAGE plpgsql SET jit = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off AS $$
DECLARE
  v_places tid[];
  v_count integer;
  v_running integer;
BEGIN
  -- Shards first, then the execution, as everybody does: two orders would be a deadlock with a claim or a completion.
  PERFORM 1 FROM escapement.shard_live l
    WHERE l.job_id = p_job_id AND l.fire_time = p_fire_time ORDER BY l.shard_no FOR UPDATE;
  PERFORM 1 FROM escapement.execution_live e
    WHERE e.job_id = p_job_id AND e.fire_time = p_fire_time AND e.state = 'open' FOR NO KEY UPDATE;
  IF NOT FOUND THEN RETURN NULL; END IF;
  UPDATE escapement.execution SET reason = p_reason WHERE job_id = p_job_id AND fire_time = p_fire_time;
  SELECT array_agg(h.place) INTO v_places FROM (
    SELECT l.ctid AS place FROM escapement.shard_live l
    WHERE l.job_id = p_job_id AND l.fire_time = p_fire_time AND l.owner IS NULL FOR UPDATE) h;
  UPDATE escapement.shard_live SET cancel_requested = true
    WHERE job_id = p_job_id AND fire_time = p_fire_time AND owner IS NOT NULL;
  GET DIAGNOSTICS v_running = ROW_COUNT;
  v_count := coalesce(cardinality(v_places), 0);
  IF v_count > 0 THEN
    PERFORM escapement.settle(v_places, array_fill('cancelled'::text, ARRAY[v_count]), array_fill(0::bigint, ARRAY[v_count]),
      array_fill(NULL::bigint, ARRAY[v_count]), array_fill(NULL::integer, ARRAY[v_count]), array_fill(p_reason, ARRAY[v_count]));
  END IF;
  RETURN v_running;
END $$;

-- A shard asks to keep its place: fenced like every write of an attempt.
CREATE FUNCTION escapement.checkpoint(p_incarnation uuid, p_job integer, p_fire timestamptz, p_shard integer, p_token bigint,
  p_data text, p_count bigint) RETURNS boolean
LANGUAGE plpgsql SET jit = off SET enable_seqscan = off AS $$
BEGIN
  PERFORM 1 FROM escapement.shard_live l
    WHERE l.job_id = p_job AND l.fire_time = p_fire AND l.shard_no = p_shard AND l.owner = p_incarnation AND l.fence_token = p_token
      AND (l.continue_fenced OR EXISTS (SELECT 1 FROM escapement.executor x
           WHERE x.incarnation = p_incarnation AND x.lease_until > clock_timestamp()))
    FOR UPDATE;
  IF NOT FOUND THEN
    INSERT INTO escapement.stale_write (job_id, fire_time, shard_no, owner, fence_token, what)
      VALUES (p_job, p_fire, p_shard, p_incarnation, p_token, 'checkpoint');
    RETURN false;
  END IF;
  INSERT INTO escapement.shard_checkpoint AS c (job_id, fire_time, shard_no, fence_token, data, rows)
    VALUES (p_job, p_fire, p_shard, p_token, p_data, p_count)
    ON CONFLICT (job_id, fire_time, shard_no) DO UPDATE
      SET fence_token = excluded.fence_token, data = coalesce(excluded.data, c.data), rows = coalesce(excluded.rows, c.rows),
          at = clock_timestamp();
  RETURN true;
END $$;

-- The number of the shard a business key belongs to: the first eight hex digits of
-- its MD5, modulo the shard count. The same in SQL, TypeScript and on the command line.
CREATE FUNCTION escapement.shard_of(p_key text, p_count integer) RETURNS integer LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT (('x' || substr(md5(p_key), 1, 8))::bit(32)::bigint & 4294967295) % p_count
$$;
