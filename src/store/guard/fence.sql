-- fence: refuses an older token inside the job's own transaction.

-- Locks the row of this resource until the transaction ends. With p_ask, NULL when the transaction
-- was not marked yet (it is now: ask again). Errors: EG001, EG002 older token, EG005, EG007.
CREATE OR REPLACE FUNCTION escapement_guard.fence(p_resource text, p_token bigint, p_ask boolean DEFAULT false) RETURNS boolean
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_date date := escapement_guard.key_date_or_null(p_resource);
  v_highest bigint;
BEGIN
  IF p_resource IS NULL OR p_token IS NULL THEN
    RAISE EXCEPTION 'a fence needs a resource and a token' USING ERRCODE = 'EG007';
  END IF;
  PERFORM escapement_guard.need_read_committed('the fence');
  IF NOT escapement_guard.entered(p_ask) THEN RETURN NULL; END IF;
  -- A holder that freezes in here must not keep its successor waiting for ever.
  IF current_setting('idle_in_transaction_session_timeout') = '0' THEN
    PERFORM set_config('idle_in_transaction_session_timeout', '15s', true);
  END IF;
  -- DO UPDATE locks the row even where its WHERE is false: an equal token costs no new row version.
  INSERT INTO escapement_guard.fence AS f (resource, key_date, token) VALUES (p_resource, v_date, p_token)
    ON CONFLICT (resource) DO UPDATE SET token = excluded.token, changed_at = clock_timestamp() WHERE f.token < excluded.token;
  IF FOUND THEN
    IF v_date IS NOT NULL THEN PERFORM escapement_guard.check_age(p_resource, v_date); END IF;
    RETURN true;
  END IF;
  SELECT token INTO STRICT v_highest FROM escapement_guard.fence WHERE resource = p_resource;
  IF v_highest > p_token THEN
    RAISE EXCEPTION 'stale token % for %: a holder with token % is ahead', p_token, p_resource, v_highest
      USING ERRCODE = 'EG002', HINT = 'someone took over; stop and write nothing more';
  END IF;
  RETURN true;
END $$;
