-- work items: leased rows of a list.
--
--   pending --take--> processing --done--> done
--      ^                  | lease over (next take), error (after a pause)
--      '------------------'  after max attempts: failed

-- p_items: a JSON array of {"item": text, "payload": any}. Items already on the list stay as they are.
-- Returns how many were new. Errors: EG004, EG005, EG007.
CREATE OR REPLACE FUNCTION escapement_guard.work_add(p_list text, p_items jsonb) RETURNS bigint
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_date date := escapement_guard.key_date(p_list);
  v_count bigint;
BEGIN
  IF EXISTS (SELECT 1 FROM jsonb_array_elements(p_items) AS e WHERE e ->> 'item' IS NULL) THEN
    RAISE EXCEPTION 'every work item needs a name under "item"' USING ERRCODE = 'EG007';
  END IF;
  INSERT INTO escapement_guard.work_item (list, item, key_date, position, payload)
    SELECT p_list, item, v_date, nextval('escapement_guard.token'), payload
      FROM (SELECT DISTINCT ON (e.value ->> 'item') e.value ->> 'item' AS item, e.value -> 'payload' AS payload, e.position
              FROM jsonb_array_elements(p_items) WITH ORDINALITY AS e(value, position)
              ORDER BY e.value ->> 'item', e.position) AS unique_items
      ORDER BY position
    ON CONFLICT DO NOTHING;
  GET DIAGNOSTICS v_count = ROW_COUNT;
  PERFORM escapement_guard.check_age(p_list, v_date);
  RETURN v_count;
END $$;

-- Takes up to p_at_most items that are pending or whose holder's lease has ended. Never waits for a lock.
CREATE OR REPLACE FUNCTION escapement_guard.work_take(p_list text, p_holder text, p_lease interval, p_at_most integer, p_max_attempts integer)
RETURNS TABLE (item text, payload jsonb, token text, attempt integer)
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
  v_date date := escapement_guard.key_date(p_list);
BEGIN
  IF p_holder IS NULL OR p_lease IS NULL OR p_lease <= interval '0' OR p_at_most < 1 OR p_max_attempts < 1 THEN
    RAISE EXCEPTION 'work_take needs a holder, a lease, a batch size and a largest number of attempts' USING ERRCODE = 'EG007';
  END IF;
  PERFORM escapement_guard.check_age(p_list, v_date);
  UPDATE escapement_guard.work_item SET state = 'failed', changed_at = clock_timestamp(),
      error = coalesce(error || '; ', '') || format('attempt %s ended without a word', attempt)
    WHERE list = p_list AND key_date = v_date AND state = 'processing' AND attempt >= p_max_attempts AND lease_until <= clock_timestamp();
  RETURN QUERY
    WITH free AS MATERIALIZED (
      SELECT w.item FROM escapement_guard.work_item w
        WHERE w.list = p_list AND w.key_date = v_date AND w.state IN ('pending', 'processing')
          AND ((w.state = 'pending' AND (w.retry_at IS NULL OR w.retry_at <= clock_timestamp())) OR (w.state = 'processing' AND w.lease_until <= clock_timestamp()))
        ORDER BY w.position LIMIT p_at_most FOR UPDATE SKIP LOCKED)
    UPDATE escapement_guard.work_item w SET state = 'processing', holder = p_holder, token = nextval('escapement_guard.token'),
        attempt = w.attempt + 1, lease_until = clock_timestamp() + p_lease, changed_at = clock_timestamp()
      FROM free WHERE w.list = p_list AND w.key_date = v_date AND w.item = free.item
      RETURNING w.item, w.payload, w.token::text, w.attempt;
END $$;

-- Gives every item that this holder still holds a fresh lease. Returns how many.
CREATE OR REPLACE FUNCTION escapement_guard.work_renew(p_list text, p_holder text, p_lease interval) RETURNS bigint
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_count bigint;
BEGIN
  UPDATE escapement_guard.work_item SET lease_until = clock_timestamp() + p_lease
    WHERE list = p_list AND key_date = escapement_guard.key_date(p_list) AND state = 'processing'
      AND holder = p_holder AND lease_until > clock_timestamp();
  GET DIAGNOSTICS v_count = ROW_COUNT;
  RETURN v_count;
END $$;

-- Marks an item done; belongs into the transaction of the act. Repeating it changes nothing.
-- Errors: EG002 when it was taken over.
CREATE OR REPLACE FUNCTION escapement_guard.work_done(p_list text, p_item text, p_token bigint, p_result jsonb DEFAULT NULL) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  UPDATE escapement_guard.work_item SET state = 'done', result = p_result, error = NULL, changed_at = clock_timestamp()
    WHERE list = p_list AND item = p_item AND key_date = escapement_guard.key_date(p_list) AND token = p_token AND state = 'processing';
  IF FOUND THEN RETURN; END IF;
  PERFORM 1 FROM escapement_guard.work_item
    WHERE list = p_list AND item = p_item AND key_date = escapement_guard.key_date(p_list) AND token = p_token AND state = 'done';
  IF NOT FOUND THEN
    RAISE EXCEPTION 'item % of % is not ours any more', p_item, p_list
      USING ERRCODE = 'EG002', HINT = 'its lease ended and another process took it; roll back what was written for it';
  END IF;
END $$;

-- Gives an item back after an error, to be taken again after p_retry_after; failed when this was its last
-- attempt. Returns the state it has now, NULL when it was not ours any more.
CREATE OR REPLACE FUNCTION escapement_guard.work_release(p_list text, p_item text, p_token bigint, p_error text, p_max_attempts integer,
  p_retry_after interval DEFAULT '0') RETURNS text
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_state text;
BEGIN
  UPDATE escapement_guard.work_item SET state = CASE WHEN attempt >= p_max_attempts THEN 'failed' ELSE 'pending' END,
      error = p_error, holder = NULL, retry_at = clock_timestamp() + p_retry_after, changed_at = clock_timestamp()
    WHERE list = p_list AND item = p_item AND key_date = escapement_guard.key_date(p_list) AND token = p_token AND state = 'processing'
    RETURNING state INTO v_state;
  RETURN v_state;
END $$;

-- How the list stands.
CREATE OR REPLACE FUNCTION escapement_guard.work_count(p_list text,
  OUT pending bigint, OUT processing bigint, OUT done bigint, OUT failed bigint)
LANGUAGE sql STABLE AS $$
  SELECT count(*) FILTER (WHERE state = 'pending'), count(*) FILTER (WHERE state = 'processing'),
         count(*) FILTER (WHERE state = 'done'), count(*) FILTER (WHERE state = 'failed')
    FROM escapement_guard.work_item WHERE list = p_list AND key_date = escapement_guard.key_date(p_list)
$$;
