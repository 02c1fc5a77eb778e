-- Tables of the guard, in the database the job writes to. PostgreSQL 13 or newer.
-- Every row belongs to a date that is read from its key (see key_date), so that old
-- rows are dropped by the month and the same key can never be new twice.

CREATE SCHEMA IF NOT EXISTS escapement_guard;

CREATE TABLE escapement_guard.meta (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  schema_version integer NOT NULL,
  -- Keys before this day have been pruned and are refused for ever.
  low_water date NOT NULL DEFAULT '0001-01-01',
  installed_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
INSERT INTO escapement_guard.meta (schema_version) VALUES (1);

-- One sequence for every token and version: what is handed out later is greater.
CREATE SEQUENCE escapement_guard.token AS bigint;

CREATE TABLE escapement_guard.effect_key (
  key text NOT NULL,
  key_date date NOT NULL,
  -- The transaction that claimed it: only this one may record a result.
  txid bigint NOT NULL,
  result jsonb,
  claimed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (key, key_date)
) PARTITION BY RANGE (key_date);
CREATE TABLE escapement_guard.effect_key_other PARTITION OF escapement_guard.effect_key DEFAULT;

CREATE TABLE escapement_guard.external_call (
  key text NOT NULL,
  key_date date NOT NULL,
  state text NOT NULL CHECK (state IN ('pending', 'in-doubt', 'ready', 'done', 'refused')),
  receiver text NOT NULL,
  deduplicating boolean NOT NULL,
  request jsonb NOT NULL,
  request_digest text NOT NULL,
  token bigint NOT NULL,
  attempt integer NOT NULL DEFAULT 1,
  -- An earlier attempt may have been accepted: a refusal is then no proof that nothing was.
  doubt boolean NOT NULL DEFAULT false,
  -- The transaction of call_begin: call_confirm refuses to run in the same one.
  begin_txid bigint NOT NULL,
  lease_until timestamptz NOT NULL,
  response jsonb,
  reason text,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  changed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (key, key_date)
) PARTITION BY RANGE (key_date);
CREATE TABLE escapement_guard.external_call_other PARTITION OF escapement_guard.external_call DEFAULT;
CREATE INDEX external_call_open ON escapement_guard.external_call (created_at) WHERE state <> 'done';

CREATE TABLE escapement_guard.work_item (
  list text NOT NULL,
  item text NOT NULL,
  key_date date NOT NULL,
  position bigint NOT NULL,
  state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'processing', 'done', 'failed')),
  payload jsonb,
  holder text,
  token bigint,
  attempt integer NOT NULL DEFAULT 0,
  lease_until timestamptz,
  -- After an error: not taken again before.
  retry_at timestamptz,
  result jsonb,
  error text,
  changed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (list, item, key_date)
) PARTITION BY RANGE (key_date);
CREATE TABLE escapement_guard.work_item_other PARTITION OF escapement_guard.work_item DEFAULT;
CREATE INDEX work_item_open ON escapement_guard.work_item (list, position) WHERE state IN ('pending', 'processing');
CREATE INDEX work_item_failed ON escapement_guard.work_item (list) WHERE state = 'failed';

CREATE TABLE escapement_guard.fence (
  resource text PRIMARY KEY,
  -- NULL for a resource without a date in its name; such a row is never pruned.
  key_date date,
  token bigint NOT NULL,
  changed_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE TABLE escapement_guard.checkpoint (
  key text PRIMARY KEY,
  key_date date NOT NULL,
  position jsonb,
  token bigint NOT NULL,
  opened_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  saved_at timestamptz
);

CREATE TABLE escapement_guard.live_version (
  target text NOT NULL,
  scope jsonb NOT NULL,
  version bigint NOT NULL,
  row_count bigint NOT NULL,
  switched_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (target, scope)
);

CREATE TABLE escapement_guard.replacement (
  version bigint PRIMARY KEY,
  how text NOT NULL CHECK (how IN ('version', 'partition', 'table')),
  target text NOT NULL,
  scope jsonb NOT NULL,
  version_column text,
  load_into text NOT NULL,
  state text NOT NULL DEFAULT 'loading' CHECK (state IN ('loading', 'live', 'stale')),
  loaded bigint NOT NULL DEFAULT 0,
  begun_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  ended_at timestamptz
);
CREATE INDEX replacement_loading ON escapement_guard.replacement (target, version) WHERE state = 'loading';

CREATE TABLE escapement_guard.once_job (
  job text PRIMARY KEY
);

CREATE TABLE escapement_guard.once_run (
  job text NOT NULL REFERENCES escapement_guard.once_job,
  slot text NOT NULL,
  key_date date NOT NULL,
  kind text NOT NULL CHECK (kind IN ('fire-time', 'period')),
  state text NOT NULL CHECK (state IN ('running', 'done', 'failed', 'interrupted', 'ready', 'blocked')),
  holder text NOT NULL,
  host text NOT NULL,
  pid integer NOT NULL,
  token bigint NOT NULL,
  attempt integer NOT NULL DEFAULT 1,
  lease_until timestamptz NOT NULL,
  started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  ended_at timestamptz,
  exit_code integer,
  reason text,
  PRIMARY KEY (job, slot)
);
CREATE INDEX once_run_open ON escapement_guard.once_run (job) WHERE state IN ('running', 'failed', 'interrupted', 'ready');

-- Append-only: what people decided about calls and runs.
CREATE TABLE escapement_guard.settlement (
  settlement_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN ('call', 'run')),
  key text NOT NULL,
  state_before text NOT NULL,
  state_after text NOT NULL,
  settled_by text NOT NULL,
  reason text NOT NULL,
  settled_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX settlement_key ON escapement_guard.settlement (key);
