-- replaceWhole: a new version loaded beside the old one, switched in one transaction.
--
--   begin --> loading --load*--> loading --switch--> live --(a later switch)--> stale
--                '---- a later begin switched first ----------------------------^

CREATE OR REPLACE FUNCTION escapement_guard.qualified(p_table regclass) RETURNS text
LANGUAGE sql STABLE AS $$
  SELECT format('%I.%I', n.nspname, c.relname) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = p_table
$$;

-- The values of the scope as the target's columns hold them, so that one scope has one spelling.
-- Types whose text depends on the session (timestamptz, float) are refused.
CREATE OR REPLACE FUNCTION escapement_guard.scope_of(p_target regclass, p_scope jsonb) RETURNS jsonb
LANGUAGE plpgsql STABLE AS $$
DECLARE
  v_bad text;
  v_scope jsonb;
BEGIN
  SELECT string_agg(s.key, ', ') INTO v_bad
    FROM jsonb_each(p_scope) AS s LEFT JOIN pg_attribute a ON a.attrelid = p_target AND a.attname = s.key AND NOT a.attisdropped
    WHERE a.atttypid IS NULL OR jsonb_typeof(s.value) = 'null'
      OR a.atttypid <> ALL (ARRAY['text', 'varchar', 'int2', 'int4', 'int8', 'date', 'uuid', 'bool']::regtype[]);
  IF v_bad IS NOT NULL THEN
    RAISE EXCEPTION 'scope of %: % can not be a scope column', p_target, v_bad
      USING ERRCODE = 'EG007', HINT = 'a scope column exists, is not null, and is text, integer, date, uuid or boolean';
  END IF;
  EXECUTE format('SELECT coalesce(jsonb_object_agg(e.key, e.value), ''{}'') FROM jsonb_each(to_jsonb(jsonb_populate_record(NULL::%s, $1))) e WHERE $1 ? e.key',
    escapement_guard.qualified(p_target)) INTO v_scope USING p_scope;
  RETURN v_scope;
END $$;

-- Why this table can not be swapped as a whole; NULL when it can.
CREATE OR REPLACE FUNCTION escapement_guard.swap_obstacle(p_table regclass) RETURNS text
LANGUAGE sql STABLE AS $$
  SELECT string_agg(what, '; ') FROM (
    SELECT 'it is not an ordinary table' AS what FROM pg_class WHERE oid = p_table AND (relkind <> 'r' OR relrowsecurity OR relispartition)
    UNION ALL SELECT 'it inherits or is inherited from' FROM pg_inherits WHERE p_table IN (inhparent, inhrelid)
    UNION ALL SELECT 'view ' || r.ev_class::regclass FROM pg_depend d JOIN pg_rewrite r ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
      WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = p_table AND r.ev_class <> p_table
    UNION ALL SELECT 'foreign key ' || conname FROM pg_constraint WHERE contype = 'f' AND p_table IN (conrelid, confrelid)
    UNION ALL SELECT 'trigger ' || tgname FROM pg_trigger WHERE tgrelid = p_table AND NOT tgisinternal
    UNION ALL SELECT 'publication' FROM pg_publication_rel WHERE prrelid = p_table
    UNION ALL SELECT 'grants on columns' FROM pg_attribute WHERE attrelid = p_table AND attacl IS NOT NULL
  ) AS obstacle
$$;

-- Starts a new version. how: version (p_scope names column values), partition (p_scope is
-- {"partition": name}), table (p_scope is {}). Returns the version and the table it is loaded into.
CREATE OR REPLACE FUNCTION escapement_guard.replace_begin(p_how text, p_target text, p_scope jsonb DEFAULT '{}', p_version_column text DEFAULT NULL,
  OUT version text, OUT load_into text)
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
  v_target regclass := to_regclass(p_target);
  v_scope jsonb := coalesce(p_scope, '{}');
  v_model regclass;
  v_version bigint;
  v_obstacle text;
  v_check text;
  v_grant record;
BEGIN
  IF v_target IS NULL THEN
    RAISE EXCEPTION 'there is no table %', p_target USING ERRCODE = 'EG007', HINT = 'write schema.table';
  END IF;
  IF p_how = 'version' THEN
    IF NOT EXISTS (SELECT 1 FROM pg_attribute WHERE attrelid = v_target AND attname = p_version_column AND atttypid = 'int8'::regtype AND NOT attisdropped) THEN
      RAISE EXCEPTION '% has no bigint column %', p_target, coalesce(p_version_column, '(none named)') USING ERRCODE = 'EG007';
    END IF;
    v_scope := escapement_guard.scope_of(v_target, v_scope);
  ELSIF p_how = 'partition' THEN
    -- The parent first, as the switch does: the other way round, a begin and a switch lock each other out.
    EXECUTE format('LOCK TABLE %s IN ACCESS SHARE MODE', escapement_guard.qualified(v_target));
    SELECT c.oid INTO v_model FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
      WHERE i.inhparent = v_target AND c.relname = v_scope ->> 'partition' AND c.relispartition AND c.relkind = 'r';
    IF v_model IS NULL THEN
      RAISE EXCEPTION '% is not a partition of %', coalesce(v_scope ->> 'partition', 'NULL'), p_target
        USING ERRCODE = 'EG007', HINT = 'the scope is {"partition": "name"}; create the partition first';
    END IF;
    v_scope := jsonb_build_object('partition', v_scope ->> 'partition');
  ELSIF p_how = 'table' THEN
    v_model := v_target;
    v_scope := '{}';
    v_obstacle := escapement_guard.swap_obstacle(v_target);
    IF v_obstacle IS NOT NULL THEN
      RAISE EXCEPTION '% can not be replaced by table: %', p_target, v_obstacle
        USING ERRCODE = 'EG007', HINT = 'these would stay with the old table; replace by version or by partition instead';
    END IF;
  ELSE
    RAISE EXCEPTION 'replace by what? version, partition or table' USING ERRCODE = 'EG007';
  END IF;

  v_version := nextval('escapement_guard.token');
  load_into := escapement_guard.qualified(v_target);
  IF v_model IS NOT NULL THEN
    -- A name holds 63 bytes; one that is cut off there would lose the version at its end.
    SELECT format('%I.%I', n.nspname, left(c.relname, CASE WHEN octet_length(c.relname) <= 40 THEN 40 ELSE 10 END) || '__v' || v_version) INTO load_into
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = v_model;
    EXECUTE format('CREATE TABLE %s (LIKE %s INCLUDING ALL)', load_into, escapement_guard.qualified(v_model));
    IF p_how = 'partition' THEN
      -- The same rule as the partition's bound: rows are judged when they are loaded, and the switch need not scan them.
      v_check := pg_get_partition_constraintdef(v_model);
      IF v_check IS NOT NULL THEN EXECUTE format('ALTER TABLE %s ADD CONSTRAINT escapement_guard_bound CHECK (%s)', load_into, v_check); END IF;
    END IF;
    FOR v_grant IN SELECT a.privilege_type, a.is_grantable, CASE WHEN a.grantee = 0 THEN 'PUBLIC' ELSE format('%I', r.rolname) END AS grantee
        FROM pg_class c CROSS JOIN aclexplode(c.relacl) a LEFT JOIN pg_roles r ON r.oid = a.grantee WHERE c.oid = v_model AND a.grantee <> c.relowner LOOP
      EXECUTE format('GRANT %s ON %s TO %s%s', v_grant.privilege_type, load_into, v_grant.grantee, CASE WHEN v_grant.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END);
    END LOOP;
  END IF;
  INSERT INTO escapement_guard.replacement (version, how, target, scope, version_column, load_into)
    VALUES (v_version, p_how, escapement_guard.qualified(v_target), v_scope, p_version_column, load_into);
  version := v_version::text;
END $$;

-- Loads rows: a JSON array of objects that all have the same fields. Returns how many in total so far.
-- Errors: EG002 the version can not become live any more, EG007 rows differ or contradict the scope.
CREATE OR REPLACE FUNCTION escapement_guard.replace_load(p_version bigint, p_rows jsonb) RETURNS bigint
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_run escapement_guard.replacement%ROWTYPE;
  v_fixed jsonb := '{}';
  v_fields text[];
  v_columns text;
  v_values text;
  v_count bigint;
BEGIN
  SELECT * INTO v_run FROM escapement_guard.replacement WHERE version = p_version FOR UPDATE;
  IF v_run.state IS DISTINCT FROM 'loading' THEN
    RAISE EXCEPTION 'version % is %, not loading', p_version, coalesce(v_run.state, 'unknown') USING ERRCODE = 'EG002';
  END IF;
  IF jsonb_array_length(p_rows) = 0 THEN RETURN v_run.loaded; END IF;
  SELECT array_agg(k ORDER BY k) INTO v_fields FROM jsonb_object_keys(p_rows -> 0) AS k;
  IF v_run.how = 'version' THEN
    v_fixed := v_run.scope || jsonb_build_object(v_run.version_column, p_version);
    IF EXISTS (SELECT 1 FROM jsonb_array_elements(p_rows) AS r, jsonb_each_text(v_fixed) AS f WHERE r ? f.key AND r ->> f.key IS DISTINCT FROM f.value) THEN
      RAISE EXCEPTION 'a row contradicts the scope %', v_run.scope USING ERRCODE = 'EG007', HINT = 'leave the scope columns out of the rows';
    END IF;
  END IF;
  IF EXISTS (SELECT 1 FROM jsonb_array_elements(p_rows) AS r
      WHERE (SELECT array_agg(k ORDER BY k) FROM jsonb_object_keys(r) AS k) IS DISTINCT FROM v_fields) THEN
    RAISE EXCEPTION 'rows of one load must have the same fields' USING ERRCODE = 'EG007', DETAIL = 'fields of the first: ' || array_to_string(v_fields, ', ');
  END IF;
  SELECT string_agg(quote_ident(k), ', ' ORDER BY k), string_agg('loaded.' || quote_ident(k), ', ' ORDER BY k) INTO v_columns, v_values
    FROM (SELECT unnest(v_fields) UNION SELECT jsonb_object_keys(v_fixed)) AS f(k);
  EXECUTE format('INSERT INTO %1$s (%2$s) SELECT %3$s FROM jsonb_array_elements($1) AS one(fields), jsonb_populate_record(NULL::%1$s, one.fields || $2) AS loaded',
    v_run.load_into, v_columns, v_values) USING p_rows, v_fixed;
  GET DIAGNOSTICS v_count = ROW_COUNT;
  UPDATE escapement_guard.replacement SET loaded = loaded + v_count WHERE version = p_version RETURNING loaded INTO v_count;
  RETURN v_count;
END $$;

-- Makes the version live, in one transaction. p_row_count: how many rows were sent; another number in the
-- table is refused. Repeating it changes nothing. Errors: EG002 a later version is live, EG007 rows missing.
CREATE OR REPLACE FUNCTION escapement_guard.replace_switch(p_version bigint, p_row_count bigint) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_run escapement_guard.replacement%ROWTYPE;
  v_live bigint;
  v_count bigint;
  v_where text := 'true';
  v_old text;
  v_bound text;
  v_sequence record;
BEGIN
  SELECT * INTO v_run FROM escapement_guard.replacement WHERE version = p_version;
  IF v_run.version IS NULL THEN RAISE EXCEPTION 'there is no version %', p_version USING ERRCODE = 'EG007'; END IF;
  -- One row a scope decides who is ahead; the lock makes switches of one scope queue.
  INSERT INTO escapement_guard.live_version (target, scope, version, row_count) VALUES (v_run.target, v_run.scope, 0, 0) ON CONFLICT DO NOTHING;
  SELECT version INTO v_live FROM escapement_guard.live_version WHERE target = v_run.target AND scope = v_run.scope FOR UPDATE;
  IF v_live = p_version THEN RETURN; END IF;
  IF v_live > p_version THEN
    RAISE EXCEPTION 'version % of % began before version %, which is live', p_version, v_run.target, v_live
      USING ERRCODE = 'EG002', HINT = 'an older run never replaces a newer one; nothing was changed';
  END IF;
  IF v_run.how = 'version' THEN
    SELECT coalesce(string_agg(format('%I = %L', s.key, s.value), ' AND '), 'true') INTO v_where FROM jsonb_each_text(v_run.scope) AS s;
    EXECUTE format('SELECT count(*) FROM %s WHERE %s AND %I = $1', v_run.load_into, v_where, v_run.version_column) INTO v_count USING p_version;
  ELSE
    EXECUTE format('SELECT count(*) FROM %s', v_run.load_into) INTO v_count;
  END IF;
  IF v_count IS DISTINCT FROM p_row_count THEN
    RAISE EXCEPTION 'version % of % has % rows, % were sent', p_version, v_run.target, v_count, p_row_count
      USING ERRCODE = 'EG007', HINT = 'nothing was changed; load again as a new version';
  END IF;

  IF current_setting('lock_timeout') = '0' THEN PERFORM set_config('lock_timeout', '5s', true); END IF;
  IF v_run.how = 'version' THEN
    EXECUTE format('DELETE FROM %s WHERE %s AND (%3$I < $1 OR %3$I IS NULL)', v_run.load_into, v_where, v_run.version_column) USING p_version;
  ELSIF v_run.how = 'partition' THEN
    EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', v_run.target);
    SELECT format('%I.%I', n.nspname, c.relname), pg_get_expr(c.relpartbound, c.oid) INTO STRICT v_old, v_bound
      FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE i.inhparent = v_run.target::regclass AND c.relname = v_run.scope ->> 'partition';
    EXECUTE format('ALTER TABLE %s DETACH PARTITION %s', v_run.target, v_old);
    EXECUTE format('DROP TABLE %s', v_old);
    EXECUTE format('ALTER TABLE %s ATTACH PARTITION %s %s', v_run.target, v_run.load_into, v_bound);
    EXECUTE format('ALTER TABLE %s DROP CONSTRAINT IF EXISTS escapement_guard_bound', v_run.load_into);
    EXECUTE format('ALTER TABLE %s RENAME TO %I', v_run.load_into, v_run.scope ->> 'partition');
  ELSE
    EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', v_run.target);
    IF escapement_guard.swap_obstacle(v_run.target::regclass) IS NOT NULL THEN
      RAISE EXCEPTION '% can not be replaced by table: %', v_run.target, escapement_guard.swap_obstacle(v_run.target::regclass) USING ERRCODE = 'EG007';
    END IF;
    -- A serial column's sequence belongs to the old table and would be dropped with it.
    FOR v_sequence IN SELECT format('%I.%I', n.nspname, s.relname) AS name, a.attname FROM pg_depend d JOIN pg_class s ON s.oid = d.objid AND s.relkind = 'S'
        JOIN pg_namespace n ON n.oid = s.relnamespace JOIN pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
        WHERE d.refobjid = v_run.target::regclass AND d.classid = 'pg_class'::regclass AND d.deptype = 'a' LOOP
      EXECUTE format('ALTER SEQUENCE %s OWNED BY %s.%I', v_sequence.name, v_run.load_into, v_sequence.attname);
    END LOOP;
    EXECUTE format('DROP TABLE %s', v_run.target);
    EXECUTE format('ALTER TABLE %s RENAME TO %I', v_run.load_into, (parse_ident(v_run.target))[2]);
  END IF;

  UPDATE escapement_guard.live_version SET version = p_version, row_count = p_row_count, switched_at = clock_timestamp()
    WHERE target = v_run.target AND scope = v_run.scope;
  UPDATE escapement_guard.replacement SET state = 'live', ended_at = clock_timestamp() WHERE version = p_version;
END $$;

-- Removes what runs that can not become live any more have loaded. Skips, until the next time, what is locked.
CREATE OR REPLACE FUNCTION escapement_guard.replace_clean(p_version bigint) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_run escapement_guard.replacement%ROWTYPE;
  v_old record;
BEGIN
  SELECT * INTO STRICT v_run FROM escapement_guard.replacement WHERE version = p_version;
  PERFORM set_config('lock_timeout', '500ms', true);
  FOR v_old IN SELECT * FROM escapement_guard.replacement
      WHERE target = v_run.target AND scope = v_run.scope AND version < p_version AND state = 'loading' ORDER BY version LOOP
    BEGIN
      UPDATE escapement_guard.replacement SET state = 'stale', ended_at = clock_timestamp() WHERE version = v_old.version;
      IF v_old.how <> 'version' THEN
        EXECUTE format('DROP TABLE IF EXISTS %s', v_old.load_into);
      END IF;
    EXCEPTION WHEN lock_not_available THEN NULL;
    END;
  END LOOP;
  -- Its rows of the version column were deleted by the switch; these came in after it.
  IF v_run.how = 'version' THEN
    EXECUTE format('DELETE FROM %s WHERE %s AND %I < $1', v_run.load_into,
      (SELECT coalesce(string_agg(format('%I = %L', s.key, s.value), ' AND '), 'true') FROM jsonb_each_text(v_run.scope) AS s), v_run.version_column)
      USING p_version;
  END IF;
END $$;

-- A view that shows the live version of every scope, and nothing of the others.
CREATE OR REPLACE FUNCTION escapement_guard.live_view(p_view text, p_target text, p_version_column text, p_scope_columns text[]) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_target text := escapement_guard.qualified(p_target::regclass);
BEGIN
  EXECUTE format('CREATE OR REPLACE VIEW %s AS SELECT t.* FROM %s AS t JOIN escapement_guard.live_version AS v ON v.target = %L AND v.version = t.%I AND v.scope = jsonb_build_object(%s)',
    (SELECT string_agg(quote_ident(part), '.' ORDER BY n) FROM unnest(parse_ident(p_view)) WITH ORDINALITY AS p(part, n)), v_target, v_target, p_version_column,
    (SELECT coalesce(string_agg(format('%L::text, t.%I', c, c), ', '), '') FROM unnest(p_scope_columns) AS c));
END $$;
