-- claim: insert before the act, in the job's own transaction.

-- claimed: true, the act is yours; false, it was done, and result is what was recorded.
-- Waits while another open transaction holds the same key. With p_ask, claimed is NULL when
-- the transaction was not marked yet (it is now: ask again). Errors: EG001, EG004, EG005.
CREATE OR REPLACE FUNCTION escapement_guard.claim(p_key text, p_result jsonb DEFAULT NULL, p_ask boolean DEFAULT false,
  OUT claimed boolean, OUT result jsonb, OUT claimed_at timestamptz)
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
  v_date date;
BEGIN
  IF NOT escapement_guard.entered(p_ask) THEN RETURN; END IF;
  v_date := escapement_guard.key_date(p_key);
  claimed_at := clock_timestamp();
  INSERT INTO escapement_guard.effect_key AS k (key, key_date, txid, result, claimed_at)
    VALUES (p_key, v_date, txid_current(), p_result, claimed_at)
    ON CONFLICT DO NOTHING;
  claimed := FOUND;
  IF claimed THEN
    result := p_result;
    PERFORM escapement_guard.check_age(p_key, v_date);
  ELSE
    SELECT k.result, k.claimed_at INTO result, claimed_at
      FROM escapement_guard.effect_key k WHERE k.key = p_key AND k.key_date = v_date;
  END IF;
END $$;

-- Claims many keys in one statement; returns those that were new. In sorted order, so that two
-- batches can not lock each other out. With p_ask, one NULL when the transaction was not marked yet.
CREATE OR REPLACE FUNCTION escapement_guard.claim_many(p_keys text[], p_ask boolean DEFAULT false) RETURNS SETOF text
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_oldest date;
BEGIN
  IF NOT escapement_guard.entered(p_ask) THEN
    RETURN NEXT NULL;
    RETURN;
  END IF;
  RETURN QUERY
    INSERT INTO escapement_guard.effect_key AS k (key, key_date, txid)
      SELECT key, escapement_guard.key_date(key), txid_current()
        FROM (SELECT DISTINCT unnest(p_keys) COLLATE "C" AS key ORDER BY 1) AS sorted
      ON CONFLICT DO NOTHING
      RETURNING k.key;
  -- One look: only when anything was ever pruned are the dates worth reading again.
  IF (SELECT low_water FROM escapement_guard.meta) > '0001-01-01' THEN
    SELECT min(escapement_guard.key_date(key)) INTO v_oldest FROM unnest(p_keys) AS key;
    PERFORM escapement_guard.check_age('a key of ' || v_oldest, v_oldest);
  END IF;
END $$;

-- Keeps what the act returned. Only in the transaction that claimed the key. Errors: EG001.
CREATE OR REPLACE FUNCTION escapement_guard.record(p_key text, p_result jsonb) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  UPDATE escapement_guard.effect_key SET result = p_result
    WHERE key = p_key AND key_date = escapement_guard.key_date(p_key) AND txid = txid_current();
  IF NOT FOUND THEN
    RAISE EXCEPTION 'the key % was not claimed in this transaction', p_key
      USING ERRCODE = 'EG001', HINT = 'claim, act and record belong into one transaction';
  END IF;
END $$;
