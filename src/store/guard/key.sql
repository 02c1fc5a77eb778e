-- Keys, dates and transactions: what every other function of the guard leans on.

-- The day a key belongs to, read from its text; NULL when it carries none.
-- Written-out forms win over bare digits, then the leftmost wins. Immutable on purpose:
-- one key has one day for ever, and so lives in one partition with one unique index.
CREATE OR REPLACE FUNCTION escapement_guard.key_date_or_null(p_key text) RETURNS date
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  v text;
  v_first date;
BEGIN
  v := substring(p_key from '(?<![0-9A-Za-z])(?:19|20|21)[0-9][0-9]-(?:(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12][0-9]|3[01]))?|W(?:0[1-9]|[1-4][0-9]|5[0-3])|Q[1-4])(?![0-9A-SU-Za-z])');
  IF v IS NULL THEN
    v := substring(p_key from '(?<![0-9A-Za-z])(?:19|20|21)[0-9][0-9](?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])?(?![0-9A-SU-Za-z])');
    IF v IS NULL THEN RETURN NULL; END IF;
    v := left(v, 4) || '-' || substr(v, 5, 2) || CASE WHEN length(v) = 8 THEN '-' || right(v, 2) ELSE '' END;
  END IF;
  IF substr(v, 6, 1) = 'W' THEN RETURN to_date(left(v, 4) || right(v, 2), 'IYYYIW'); END IF;
  IF substr(v, 6, 1) = 'Q' THEN RETURN make_date(left(v, 4)::int, right(v, 1)::int * 3 - 2, 1); END IF;
  v_first := make_date(left(v, 4)::int, substr(v, 6, 2)::int, 1);
  IF length(v) = 7 THEN RETURN v_first; END IF;
  -- The 31st of a shorter month still names its month.
  RETURN least(v_first + (right(v, 2)::int - 1), (v_first + interval '1 month - 1 day')::date);
END $$;

-- The day a key belongs to. Errors: EG004 when it carries none.
CREATE OR REPLACE FUNCTION escapement_guard.key_date(p_key text) RETURNS date
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  v date := escapement_guard.key_date_or_null(p_key);
BEGIN
  IF v IS NULL THEN
    RAISE EXCEPTION 'the key % carries no date', coalesce(quote_literal(p_key), 'NULL')
      USING ERRCODE = 'EG004', HINT = 'write the period or fire time into it, set off by / or :, for example bonus/2026-07/user-17';
  END IF;
  RETURN v;
END $$;

-- Errors: EG005 when rows of this day have been pruned. Called AFTER the insert it judges: the
-- insert holds a lock that pruning waits for, so a key can not slip in between mark and drop.
CREATE OR REPLACE FUNCTION escapement_guard.check_age(p_key text, p_date date) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_low date := (SELECT low_water FROM escapement_guard.meta);
BEGIN
  IF p_date < v_low THEN
    RAISE EXCEPTION '% is older than what is kept (since %): nobody can know whether it was done', p_key, v_low
      USING ERRCODE = 'EG005', HINT = 'rows before that day have been pruned; the key is refused for ever';
  END IF;
END $$;

-- Marks the current transaction. The mark ends with it, so a later statement that
-- finds it proves that both run in one transaction.
CREATE OR REPLACE FUNCTION escapement_guard.enter() RETURNS text
LANGUAGE sql VOLATILE AS $$
  SELECT set_config('escapement_guard.entered', txid_current()::text, true)
$$;

-- True when enter() was called in this transaction. Otherwise: EG001, or with p_ask the mark is
-- set now and the answer is false, so that the caller can ask again.
CREATE OR REPLACE FUNCTION escapement_guard.entered(p_ask boolean) RETURNS boolean
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  IF current_setting('escapement_guard.entered', true) IS NOT DISTINCT FROM txid_current()::text THEN RETURN true; END IF;
  IF p_ask THEN
    PERFORM escapement_guard.enter();
    RETURN false;
  END IF;
  RAISE EXCEPTION 'this step must run in the same transaction as the act it guards'
    USING ERRCODE = 'EG001', HINT = 'BEGIN; SELECT escapement_guard.enter(); then this step and the act; then COMMIT';
END $$;

-- Refuses a transaction that looks at the database as it was before this step: what another one, for whose
-- lock the step has waited, wrote a moment ago would stay unseen. Errors: EG007.
CREATE OR REPLACE FUNCTION escapement_guard.need_read_committed(p_step text) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  IF current_setting('transaction_isolation') IN ('repeatable read', 'serializable') THEN
    RAISE EXCEPTION '% needs a transaction that is read committed; this one is %', p_step, current_setting('transaction_isolation')
      USING ERRCODE = 'EG007', HINT = 'BEGIN ISOLATION LEVEL READ COMMITTED, or ALTER ROLE … SET default_transaction_isolation = ''read committed''';
  END IF;
END $$;

CREATE OR REPLACE FUNCTION escapement_guard.schema_version() RETURNS integer
LANGUAGE sql STABLE AS $$ SELECT schema_version FROM escapement_guard.meta $$;
