-- Months: partitions ahead, pruning behind.

-- Creates the monthly partitions that touch p_from … p_until. A month whose rows are already in the default
-- partition is left there. Returns the names created.
CREATE OR REPLACE FUNCTION escapement_guard.ensure_months(p_from date, p_until date) RETURNS SETOF text
-- A new partition needs the whole table for a moment. While it waits for a long transaction, every claim waits behind it.
LANGUAGE plpgsql VOLATILE SET lock_timeout = '3s' AS $$
DECLARE
  v_table text;
  v_month date;
  v_name text;
  v_taken boolean;
BEGIN
  FOREACH v_table IN ARRAY ARRAY['effect_key', 'external_call', 'work_item'] LOOP
    v_month := date_trunc('month', p_from)::date;
    WHILE v_month <= p_until LOOP
      v_name := v_table || '_' || to_char(v_month, 'YYYY_MM');
      IF to_regclass('escapement_guard.' || v_name) IS NULL THEN
        EXECUTE format('SELECT EXISTS (SELECT 1 FROM escapement_guard.%I WHERE key_date >= %L AND key_date < %L)',
          v_table || '_other', v_month, v_month + interval '1 month') INTO v_taken;
        IF NOT v_taken THEN
          EXECUTE format('CREATE TABLE escapement_guard.%I PARTITION OF escapement_guard.%I FOR VALUES FROM (%L) TO (%L)',
            v_name, v_table, v_month, (v_month + interval '1 month')::date);
          RETURN NEXT v_name;
        END IF;
      END IF;
      v_month := (v_month + interval '1 month')::date;
    END LOOP;
  END LOOP;
END $$;

-- Step 1, committed before step 2: from now on keys before this day are refused. Never goes back. Returns the mark.
CREATE OR REPLACE FUNCTION escapement_guard.prune_mark(p_before date) RETURNS date
LANGUAGE sql VOLATILE AS $$
  UPDATE escapement_guard.meta SET low_water = greatest(low_water, date_trunc('month', p_before)::date) RETURNING low_water
$$;

-- Step 2: drops what lies before the mark. A month with unsettled calls or unfinished items is kept and named.
CREATE OR REPLACE FUNCTION escapement_guard.prune_drop() RETURNS TABLE (what text, outcome text)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_low date := (SELECT low_water FROM escapement_guard.meta);
  v_part record;
  v_open boolean;
  v_count bigint;
  v_table text;
  v_unsettled text;
BEGIN
  PERFORM escapement_guard.call_sweep();
  IF current_setting('lock_timeout') = '0' THEN PERFORM set_config('lock_timeout', '5s', true); END IF;
  FOREACH v_table IN ARRAY ARRAY['effect_key', 'external_call', 'work_item'] LOOP
    v_unsettled := CASE v_table WHEN 'external_call' THEN 'state IN (''pending'', ''in-doubt'', ''ready'')' WHEN 'work_item' THEN 'state IN (''pending'', ''processing'')' ELSE 'false' END;
    FOR v_part IN SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent = ('escapement_guard.' || v_table)::regclass AND c.relname ~ '_\d{4}_\d{2}$'
          AND to_date(right(c.relname, 7), 'YYYY_MM') < v_low ORDER BY 1 LOOP
      EXECUTE format('SELECT EXISTS (SELECT 1 FROM escapement_guard.%I WHERE %s)', v_part.relname, v_unsettled) INTO v_open;
      IF v_open THEN
        what := v_part.relname; outcome := 'kept: has unsettled entries';
      ELSE
        EXECUTE format('DROP TABLE escapement_guard.%I', v_part.relname);
        what := v_part.relname; outcome := 'dropped';
      END IF;
      RETURN NEXT;
    END LOOP;
    EXECUTE format('DELETE FROM escapement_guard.%I WHERE key_date < $1 AND NOT (%s)', v_table || '_other', v_unsettled) USING v_low;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    IF v_count > 0 THEN what := v_table || '_other'; outcome := v_count || ' rows deleted'; RETURN NEXT; END IF;
  END LOOP;
  DELETE FROM escapement_guard.fence WHERE key_date < v_low;
  DELETE FROM escapement_guard.checkpoint WHERE key_date < v_low;
  DELETE FROM escapement_guard.once_run WHERE key_date < v_low AND state IN ('done', 'blocked', 'failed');
  DELETE FROM escapement_guard.replacement WHERE begun_at < v_low AND state <> 'loading';
END $$;
