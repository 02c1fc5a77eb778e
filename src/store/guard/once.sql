-- once: one run of a job for one fire time or period, whoever starts it.
--
--   (no row) --acquire--> running --finish--> done | failed | interrupted
--      |                     '-- lease over: its holder died; runs again only on request
--      '-- an earlier run still runs, policy skip or fail --> blocked (final)
--   a person settles: done, or ready (runs at the next start)

-- decision: run (token and attempt are ours), running (another holder), done, failed, died, blocked,
-- wait (an earlier run still runs, policy wait), early (the fire time lies ahead of the database clock).
-- p_policy: skip, wait or fail, for the case that an EARLIER run of the job still runs.
-- Errors: EG004, EG005, EG007.
CREATE OR REPLACE FUNCTION escapement_guard.once_acquire(p_job text, p_slot text, p_kind text, p_holder text, p_host text, p_pid integer,
  p_lease interval, p_policy text, p_rerun_after_crash boolean DEFAULT false, p_rerun_after_failure boolean DEFAULT false, p_early interval DEFAULT '1 minute',
  OUT decision text, OUT token text, OUT attempt integer, OUT holder_host text, OUT holder_pid integer, OUT exit_code integer,
  OUT other_slot text, OUT reason text, OUT since timestamptz, OUT lease_until timestamptz, OUT database_time timestamptz)
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
  v_date date := escapement_guard.key_date(p_slot);
  v_row escapement_guard.once_run%ROWTYPE;
  v_other escapement_guard.once_run%ROWTYPE;
  v_token bigint;
BEGIN
  IF p_job IS NULL OR p_holder IS NULL OR p_kind NOT IN ('fire-time', 'period') OR p_policy NOT IN ('skip', 'wait', 'fail') OR p_policy IS NULL
      OR p_lease IS NULL OR p_lease <= interval '0' THEN
    RAISE EXCEPTION 'once needs a job, a slot, a holder, a lease, and skip, wait or fail' USING ERRCODE = 'EG007';
  END IF;
  -- Starts of one job queue here, and each must see what the one before has written.
  PERFORM escapement_guard.need_read_committed('once');
  INSERT INTO escapement_guard.once_job (job) VALUES (p_job) ON CONFLICT DO NOTHING;
  PERFORM 1 FROM escapement_guard.once_job WHERE job = p_job FOR UPDATE;
  database_time := clock_timestamp();
  PERFORM escapement_guard.check_age(p_job || '/' || p_slot, v_date);

  SELECT * INTO v_row FROM escapement_guard.once_run WHERE job = p_job AND slot = p_slot;
  holder_host := v_row.host; holder_pid := v_row.pid; exit_code := v_row.exit_code; reason := v_row.reason;
  since := coalesce(v_row.ended_at, v_row.started_at); lease_until := v_row.lease_until; attempt := v_row.attempt;
  IF v_row.state = 'done' THEN decision := 'done'; RETURN; END IF;
  IF v_row.state = 'blocked' THEN decision := 'blocked'; RETURN; END IF;
  IF v_row.state = 'failed' AND NOT p_rerun_after_failure THEN decision := 'failed'; RETURN; END IF;
  IF v_row.state = 'running' AND v_row.lease_until > database_time THEN
    -- The same process asking again (its first answer was lost) holds it already.
    IF v_row.holder = p_holder THEN decision := 'run'; token := v_row.token::text; ELSE decision := 'running'; END IF;
    RETURN;
  END IF;
  IF v_row.state IN ('running', 'interrupted') AND NOT p_rerun_after_crash THEN
    decision := 'died';
    since := v_row.started_at;
    RETURN;
  END IF;
  IF p_kind = 'fire-time' AND p_slot::timestamptz > database_time + p_early THEN decision := 'early'; RETURN; END IF;

  SELECT * INTO v_other FROM escapement_guard.once_run
    WHERE job = p_job AND slot <> p_slot AND state = 'running' AND lease_until > database_time ORDER BY started_at DESC LIMIT 1;
  IF FOUND THEN
    other_slot := v_other.slot; holder_host := v_other.host; holder_pid := v_other.pid; since := v_other.started_at; lease_until := v_other.lease_until;
    IF p_policy = 'wait' THEN decision := 'wait'; RETURN; END IF;
    decision := 'blocked';
    reason := format('the run of %s was still running (%s, pid %s)', v_other.slot, v_other.host, v_other.pid);
    -- A row that already ran in part keeps its state; only a start that never happened is blocked for good.
    IF v_row.job IS NULL THEN
      INSERT INTO escapement_guard.once_run (job, slot, key_date, kind, state, holder, host, pid, token, attempt, lease_until, ended_at, reason)
        VALUES (p_job, p_slot, v_date, p_kind, 'blocked', p_holder, p_host, p_pid, 0, 0, database_time, database_time, reason);
    END IF;
    RETURN;
  END IF;

  v_token := nextval('escapement_guard.token');
  IF v_row.job IS NOT NULL THEN
    -- Taking over raises the fence: from here on a former holder that wakes up can not write. Waits for
    -- a transaction of it that has passed the fence and is still open.
    INSERT INTO escapement_guard.fence AS f (resource, key_date, token)
      VALUES (p_job || '/' || p_slot || '/0', escapement_guard.key_date_or_null(p_job || '/' || p_slot || '/0'), v_token)
      ON CONFLICT (resource) DO UPDATE SET token = greatest(f.token, excluded.token), changed_at = clock_timestamp();
  END IF;
  database_time := clock_timestamp();
  INSERT INTO escapement_guard.once_run AS r (job, slot, key_date, kind, state, holder, host, pid, token, lease_until, started_at)
    VALUES (p_job, p_slot, v_date, p_kind, 'running', p_holder, p_host, p_pid, v_token, database_time + p_lease, database_time)
    ON CONFLICT (job, slot) DO UPDATE SET state = 'running', holder = excluded.holder, host = excluded.host, pid = excluded.pid, token = excluded.token,
      attempt = r.attempt + 1, lease_until = excluded.lease_until, started_at = excluded.started_at, ended_at = NULL, exit_code = NULL, reason = NULL
    RETURNING r.attempt INTO attempt;
  decision := 'run'; token := v_token::text; lease_until := database_time + p_lease; since := database_time;
  holder_host := p_host; holder_pid := p_pid; exit_code := NULL; reason := NULL;
  -- Tell about an earlier run whose holder died: it does not block, but somebody must know.
  SELECT slot INTO other_slot FROM escapement_guard.once_run
    WHERE job = p_job AND slot <> p_slot AND state = 'running' AND lease_until <= database_time ORDER BY started_at DESC LIMIT 1;
END $$;

-- Extends the lease; false: it is lost. Only a lease that has not ended is extended.
CREATE OR REPLACE FUNCTION escapement_guard.once_renew(p_job text, p_slot text, p_token bigint, p_lease interval) RETURNS boolean
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  UPDATE escapement_guard.once_run SET lease_until = clock_timestamp() + p_lease
    WHERE job = p_job AND slot = p_slot AND token = p_token AND state = 'running' AND lease_until > clock_timestamp();
  RETURN FOUND;
END $$;

-- Writes how the run ended; false: someone else holds it now. Also accepted after the lease, as long as
-- nobody took over: the holder knows what happened. Repeating it changes nothing.
CREATE OR REPLACE FUNCTION escapement_guard.once_finish(p_job text, p_slot text, p_token bigint, p_state text, p_exit_code integer, p_reason text) RETURNS boolean
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  UPDATE escapement_guard.once_run SET state = p_state, exit_code = p_exit_code, reason = p_reason, ended_at = clock_timestamp()
    WHERE job = p_job AND slot = p_slot AND token = p_token AND state = 'running';
  IF FOUND THEN RETURN true; END IF;
  PERFORM 1 FROM escapement_guard.once_run WHERE job = p_job AND slot = p_slot AND token = p_token AND state = p_state;
  RETURN FOUND;
END $$;

-- Gives a start back that never ran anything: another host may take it at once.
CREATE OR REPLACE FUNCTION escapement_guard.once_give_back(p_job text, p_slot text, p_token bigint, p_reason text) RETURNS boolean
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  UPDATE escapement_guard.once_run SET state = 'ready', reason = p_reason, ended_at = clock_timestamp()
    WHERE job = p_job AND slot = p_slot AND token = p_token AND state = 'running';
  RETURN FOUND;
END $$;

-- A person settles a run. p_to: done, or ready (it runs at the next start). Returns the state before.
CREATE OR REPLACE FUNCTION escapement_guard.once_settle(p_key text, p_to text, p_by text, p_reason text) RETURNS text
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_row escapement_guard.once_run%ROWTYPE;
BEGIN
  SELECT * INTO v_row FROM escapement_guard.once_run WHERE job || '/' || slot = p_key AND state <> 'done' FOR UPDATE;
  IF v_row.job IS NULL OR p_to NOT IN ('done', 'ready') OR (v_row.state = 'running' AND v_row.lease_until > clock_timestamp()) THEN
    RAISE EXCEPTION 'run % can not be settled as %: %', p_key, p_to,
        CASE WHEN v_row.job IS NULL THEN 'there is no such run, or it is done' ELSE 'it is ' || v_row.state END
      USING ERRCODE = 'EG007', HINT = 'a run whose holder died, that failed, was interrupted or blocked can be settled';
  END IF;
  UPDATE escapement_guard.once_run SET state = p_to, ended_at = clock_timestamp(), reason = p_reason WHERE job = v_row.job AND slot = v_row.slot;
  INSERT INTO escapement_guard.settlement (kind, key, state_before, state_after, settled_by, reason)
    VALUES ('run', p_key, v_row.state, p_to, p_by, p_reason);
  RETURN v_row.state;
END $$;
