-- kind: expand
-- Draining a node by hand, for maintenance: it claims nothing more until it is
-- let in again, whatever restarts in between. What it runs goes on to its end.

CREATE TABLE escapement.executor_drain (
  node text PRIMARY KEY,
  since timestamptz NOT NULL DEFAULT clock_timestamp(),
  person text NOT NULL,
  reason text NOT NULL
);

-- Stops new claims of a node. When it returns and is committed, no claim is on its way: those that
-- had begun have committed, those that begin see the row. Returns false when it was drained already.
CREATE FUNCTION escapement.drain(p_node text, p_person text, p_reason text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO escapement.executor_drain (node, person, reason) VALUES (p_node, p_person, p_reason)
    ON CONFLICT (node) DO NOTHING;
  IF NOT FOUND THEN RETURN false; END IF;
  -- A claim holds its executor's row FOR SHARE to its end.
  PERFORM 1 FROM escapement.executor WHERE node = p_node AND state IN ('active', 'draining')
    ORDER BY incarnation FOR NO KEY UPDATE;
  RETURN true;
END $$;

-- Claims up to p_limit shards of one class. Adds one to attempt and hands out a new fence token.
-- As before, but a drained node gets nothing.
CREATE OR REPLACE FUNCTION escapement.claim(p_incarnation uuid, p_class smallint, p_limit integer, p_catch_up boolean, p_share double precision)
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
  -- A statement of its own, after the lock: a claim that waited for drain() sees what drain() wrote.
  PERFORM 1 FROM escapement.executor_drain d
    JOIN escapement.executor x ON x.node = d.node WHERE x.incarnation = p_incarnation;
  IF FOUND THEN RETURN; END IF;
  IF p_catch_up THEN
    PERFORM 1 FROM escapement.catch_up_gate FOR UPDATE;
    SELECT least(p_limit, greatest(1, floor(p_share * coalesce(sum(
             CASE p_class WHEN 1 THEN x.cpu_slots WHEN 2 THEN x.memory_slots ELSE x.io_slots END), 0))::integer)
           - (SELECT count(*)::integer FROM escapement.shard_live l
              WHERE l.owner IS NOT NULL AND l.catch_up AND l.class = p_class))
      INTO v_limit
      FROM escapement.executor x WHERE x.state = 'active' AND x.lease_until > clock_timestamp()
        AND NOT EXISTS (SELECT 1 FROM escapement.executor_drain d WHERE d.node = x.node);
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

REVOKE ALL ON escapement.executor_drain FROM PUBLIC;
REVOKE ALL ON FUNCTION escapement.drain FROM PUBLIC;
GRANT SELECT ON escapement.executor_drain TO escapement_scheduler, escapement_executor, escapement_watchman, escapement_reader;
GRANT INSERT, DELETE ON escapement.executor_drain TO escapement_scheduler;
GRANT EXECUTE ON FUNCTION escapement.drain TO escapement_scheduler;
