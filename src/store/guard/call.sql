-- The ledger of external calls.
--
--   (no row) --begin--> pending --answer--> done | refused
--                          |  killed, frozen, cut off, time limit, any other error
--                          v
--                       in-doubt --begin, receiver deduplicates--> pending (same key)
--                          '--a person settles--> done, or ready --begin--> pending

-- Replaces the values of secret fields, at any depth, and passwords inside URLs by ***.
-- The same rule as src/guard/redact-json.ts; test/cases/guard/redact.json holds both to it.
CREATE OR REPLACE FUNCTION escapement_guard.redact(p_value jsonb, p_fields text[] DEFAULT '{}') RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  v_type text := jsonb_typeof(p_value);
BEGIN
  IF v_type = 'object' THEN
    RETURN coalesce((SELECT jsonb_object_agg(e.key, CASE
        WHEN escapement_guard.is_secret(e.key, p_fields) AND jsonb_typeof(e.value) <> 'null' THEN '"***"'::jsonb
        ELSE escapement_guard.redact(e.value, p_fields) END)
      FROM jsonb_each(p_value) AS e), '{}'::jsonb);
  ELSIF v_type = 'array' THEN
    RETURN coalesce((SELECT jsonb_agg(escapement_guard.redact(e.value, p_fields) ORDER BY e.position)
      FROM jsonb_array_elements(p_value) WITH ORDINALITY AS e(value, position)), '[]'::jsonb);
  ELSIF v_type = 'string' AND position('://' in p_value #>> '{}') > 0 THEN
    RETURN to_jsonb(regexp_replace(p_value #>> '{}', '([A-Za-z][A-Za-z0-9+.-]*://[^:/?#[:space:]@]*:)[^@/[:space:]]*@', '\1***@', 'g'));
  END IF;
  RETURN p_value;
END $$;

CREATE OR REPLACE FUNCTION escapement_guard.is_secret(p_name text, p_fields text[]) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT n IN ('password', 'passwd', 'passphrase', 'secret', 'token', 'accesstoken', 'refreshtoken', 'authtoken', 'idtoken',
      'apikey', 'authorization', 'proxyauthorization', 'cookie', 'setcookie', 'privatekey', 'credential', 'credentials', 'cvv', 'cvc', 'pin')
    OR n LIKE '%password' OR n LIKE '%secret' OR n LIKE '%apikey'
    OR EXISTS (SELECT 1 FROM unnest(p_fields) AS f WHERE lower(translate(f, '-_', '')) = n)
  FROM (SELECT lower(translate(p_name, '-_', '')) AS n) AS normal
$$;

-- Asks for leave to call. decision: call (go ahead with token), done or refused (response is what
-- was kept), in-doubt (do not call), busy (another process is calling right now).
-- Must be committed before the call is made. Errors: EG003 a different request, EG004, EG005, EG007.
CREATE OR REPLACE FUNCTION escapement_guard.call_begin(p_key text, p_request jsonb, p_receiver text, p_deduplicating boolean,
  p_lease interval, p_secret_fields text[] DEFAULT '{}',
  OUT decision text, OUT token text, OUT attempt integer, OUT response jsonb, OUT reason text)
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
  v_date date := escapement_guard.key_date(p_key);
  v_request jsonb := escapement_guard.redact(coalesce(p_request, 'null'::jsonb), p_secret_fields);
  v_digest text := encode(sha256(convert_to(v_request::text, 'UTF8')), 'hex');
  v_token bigint;
  v_row escapement_guard.external_call%ROWTYPE;
BEGIN
  IF p_deduplicating IS NULL OR p_receiver IS NULL OR p_lease IS NULL OR p_lease <= interval '0' THEN
    RAISE EXCEPTION 'call_begin needs a receiver, whether it deduplicates (true or false), and a lease'
      USING ERRCODE = 'EG007', HINT = 'true only if the receiver accepts one key once, however often it is sent';
  END IF;
  v_token := nextval('escapement_guard.token');
  INSERT INTO escapement_guard.external_call (key, key_date, state, receiver, deduplicating, request, request_digest, token, begin_txid, lease_until)
    VALUES (p_key, v_date, 'pending', p_receiver, p_deduplicating, v_request, v_digest, v_token, txid_current(), clock_timestamp() + p_lease)
    ON CONFLICT DO NOTHING;
  IF FOUND THEN
    PERFORM escapement_guard.check_age(p_key, v_date);
    decision := 'call'; token := v_token::text; attempt := 1;
    RETURN;
  END IF;

  SELECT * INTO STRICT v_row FROM escapement_guard.external_call WHERE key = p_key AND key_date = v_date FOR UPDATE;
  IF v_row.request_digest <> v_digest OR v_row.receiver <> p_receiver THEN
    RAISE EXCEPTION 'the key % was used for a different request', p_key
      USING ERRCODE = 'EG003', DETAIL = format('kept: %s %s', v_row.receiver, left(v_row.request::text, 500)),
        HINT = 'one key stands for one request; a changed amount or person needs a key of its own';
  END IF;
  response := v_row.response; reason := v_row.reason; attempt := v_row.attempt;
  IF v_row.state IN ('done', 'refused') THEN
    decision := v_row.state;
    RETURN;
  ELSIF v_row.state = 'pending' AND v_row.lease_until > clock_timestamp() THEN
    decision := 'busy';
    RETURN;
  ELSIF v_row.state <> 'ready' AND NOT (v_row.deduplicating AND p_deduplicating) THEN
    IF v_row.state = 'pending' THEN
      reason := format('attempt %s did not report an answer before its lease ended', v_row.attempt);
      UPDATE escapement_guard.external_call AS c SET state = 'in-doubt', doubt = true, reason = call_begin.reason, changed_at = clock_timestamp()
        WHERE c.key = p_key AND c.key_date = v_date;
    END IF;
    decision := 'in-doubt';
    RETURN;
  END IF;
  -- Drawn again under the row lock: the token of a later begin is always the greater one.
  v_token := nextval('escapement_guard.token');
  UPDATE escapement_guard.external_call AS c SET state = 'pending', token = v_token, attempt = v_row.attempt + 1,
      deduplicating = p_deduplicating, doubt = v_row.doubt OR v_row.state <> 'ready',
      begin_txid = txid_current(), lease_until = clock_timestamp() + p_lease, changed_at = clock_timestamp()
    WHERE c.key = p_key AND c.key_date = v_date;
  decision := 'call'; token := v_token::text; attempt := v_row.attempt + 1;
END $$;

-- The last look before the call leaves: the intention is committed, and still ours.
-- Errors: EG006 same transaction as call_begin, EG002 lease over or taken over.
CREATE OR REPLACE FUNCTION escapement_guard.call_confirm(p_key text, p_token bigint) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_row escapement_guard.external_call%ROWTYPE;
BEGIN
  SELECT * INTO v_row FROM escapement_guard.external_call WHERE key = p_key AND key_date = escapement_guard.key_date(p_key);
  IF v_row.begin_txid = txid_current_if_assigned() THEN
    RAISE EXCEPTION 'the intention to call % is not committed yet', p_key
      USING ERRCODE = 'EG006', HINT = 'an external call must not be made inside a transaction: COMMIT after call_begin, or use a connection of its own';
  END IF;
  IF v_row.token IS DISTINCT FROM p_token OR v_row.state <> 'pending' OR v_row.lease_until <= clock_timestamp() THEN
    RAISE EXCEPTION 'the right to call % has ended', p_key
      USING ERRCODE = 'EG002', HINT = 'nothing was sent; run the job again to see where the call stands';
  END IF;
END $$;

-- Writes an attempt's end. Repeating it changes nothing. Errors: EG002 when another attempt is ahead.
-- A late answer to our own attempt is welcome even after the lease, as long as nobody took over.
CREATE OR REPLACE FUNCTION escapement_guard.call_end(p_key text, p_token bigint, p_state text, p_response jsonb, p_reason text) RETURNS text
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_date date := escapement_guard.key_date(p_key);
  v_row escapement_guard.external_call%ROWTYPE;
  v_state text := p_state;
BEGIN
  SELECT * INTO v_row FROM escapement_guard.external_call WHERE key = p_key AND key_date = v_date FOR UPDATE;
  IF v_row.token IS DISTINCT FROM p_token THEN
    RAISE EXCEPTION 'another attempt of call % is ahead of this one', p_key
      USING ERRCODE = 'EG002', HINT = 'its answer counts; run the job again to see it';
  END IF;
  -- Final, except that knowing it was accepted beats everything else.
  IF v_row.state = 'done' OR (v_row.state = 'refused' AND p_state <> 'done') THEN RETURN v_row.state; END IF;
  IF v_row.state = 'ready' AND p_state = 'in-doubt' THEN RETURN v_row.state; END IF;
  -- An earlier attempt may have been accepted: a refusal of this one settles nothing.
  IF v_row.doubt AND v_state IN ('refused', 'ready') THEN v_state := 'in-doubt'; END IF;
  UPDATE escapement_guard.external_call SET state = v_state, response = p_response, changed_at = clock_timestamp(),
      doubt = doubt OR v_state = 'in-doubt',
      reason = CASE WHEN v_state <> p_state THEN format('attempt %s ended %s, but an earlier one may have been accepted', v_row.attempt, p_state) ELSE p_reason END
    WHERE key = p_key AND key_date = v_date;
  RETURN v_state;
END $$;

-- The receiver accepted.
CREATE OR REPLACE FUNCTION escapement_guard.call_done(p_key text, p_token bigint, p_response jsonb DEFAULT NULL, p_secret_fields text[] DEFAULT '{}') RETURNS text
LANGUAGE sql VOLATILE AS $$ SELECT escapement_guard.call_end(p_key, p_token, 'done', escapement_guard.redact(p_response, p_secret_fields), NULL) $$;

-- The receiver said no, for certain. Answers in-doubt when an earlier attempt may have been accepted.
CREATE OR REPLACE FUNCTION escapement_guard.call_refused(p_key text, p_token bigint, p_response jsonb DEFAULT NULL, p_secret_fields text[] DEFAULT '{}') RETURNS text
LANGUAGE sql VOLATILE AS $$ SELECT escapement_guard.call_end(p_key, p_token, 'refused', escapement_guard.redact(p_response, p_secret_fields), 'refused by the receiver') $$;

-- It may or may not have been accepted.
CREATE OR REPLACE FUNCTION escapement_guard.call_doubt(p_key text, p_token bigint, p_reason text) RETURNS text
LANGUAGE sql VOLATILE AS $$ SELECT escapement_guard.call_end(p_key, p_token, 'in-doubt', NULL, p_reason) $$;

-- Nothing was sent, for certain: the next run calls again.
CREATE OR REPLACE FUNCTION escapement_guard.call_unsent(p_key text, p_token bigint, p_reason text) RETURNS text
LANGUAGE sql VOLATILE AS $$ SELECT escapement_guard.call_end(p_key, p_token, 'ready', NULL, p_reason) $$;

-- Puts calls whose attempt ended without an answer into doubt, so that lists show them. Returns how many.
CREATE OR REPLACE FUNCTION escapement_guard.call_sweep() RETURNS bigint
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_count bigint;
BEGIN
  UPDATE escapement_guard.external_call SET state = 'in-doubt', doubt = true, changed_at = clock_timestamp(),
      reason = format('attempt %s did not report an answer before its lease ended', attempt)
    WHERE state = 'pending' AND lease_until <= clock_timestamp();
  GET DIAGNOSTICS v_count = ROW_COUNT;
  RETURN v_count;
END $$;

-- A person settles a call. p_to: done, or ready (call it again). Returns the state before.
-- Errors: EG007 when there is nothing to settle.
CREATE OR REPLACE FUNCTION escapement_guard.call_settle(p_key text, p_to text, p_by text, p_reason text) RETURNS text
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_date date := escapement_guard.key_date(p_key);
  v_state text;
BEGIN
  PERFORM escapement_guard.call_sweep();
  SELECT state INTO v_state FROM escapement_guard.external_call WHERE key = p_key AND key_date = v_date FOR UPDATE;
  IF v_state IS NULL OR NOT (v_state = 'in-doubt' OR (v_state = 'refused' AND p_to = 'ready')) OR p_to NOT IN ('done', 'ready') THEN
    RAISE EXCEPTION 'call % can not be settled as %: %', p_key, p_to, coalesce('it is ' || v_state, 'there is no such call')
      USING ERRCODE = 'EG007', HINT = 'only calls in doubt can be settled, and refused ones retried';
  END IF;
  UPDATE escapement_guard.external_call SET state = p_to, doubt = false, reason = p_reason, changed_at = clock_timestamp()
    WHERE key = p_key AND key_date = v_date;
  INSERT INTO escapement_guard.settlement (kind, key, state_before, state_after, settled_by, reason)
    VALUES ('call', p_key, v_state, p_to, p_by, p_reason);
  RETURN v_state;
END $$;
