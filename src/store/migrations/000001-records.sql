-- kind: expand
-- The records: what was planned, what ran, who holds what.
--
-- Two kinds of table. Records (execution, shard, shard_attempt, frozen_key) are
-- kept for months in monthly partitions and dropped whole. Live tables
-- (execution_live, shard_live) hold only what is not finished, so that no query
-- on a hot path touches history. A shard exists in the record from the moment it
-- is planned; its live row disappears in the statement that writes its end.

CREATE TABLE escapement.cluster (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  cluster_id uuid NOT NULL DEFAULT gen_random_uuid(),
  -- Raised when the store was restored or promoted: the high bits of every fence token.
  generation integer NOT NULL DEFAULT 1 CHECK (generation BETWEEN 1 AND 8191),
  time_zone_data text,
  retention_months integer NOT NULL DEFAULT 13 CHECK (retention_months >= 1),
  -- Fires before this instant are forgotten and therefore never run again.
  low_water timestamptz NOT NULL DEFAULT '-infinity',
  last_seen timestamptz NOT NULL DEFAULT clock_timestamp()
);
INSERT INTO escapement.cluster DEFAULT VALUES;

CREATE TABLE escapement.leader (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  holder uuid,
  node text,
  host text,
  epoch bigint NOT NULL DEFAULT 0,
  lease_ms integer NOT NULL DEFAULT 15000,
  acquired_at timestamptz,
  expires_at timestamptz NOT NULL DEFAULT '-infinity'
) WITH (fillfactor = 50);
INSERT INTO escapement.leader DEFAULT VALUES;

CREATE TABLE escapement.scheduler (
  incarnation uuid PRIMARY KEY,
  node text NOT NULL,
  host text NOT NULL,
  pid integer NOT NULL,
  version text NOT NULL,
  time_zone_data text NOT NULL,
  role text NOT NULL CHECK (role IN ('leader', 'standby', 'stopped')),
  http text,
  started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  last_seen timestamptz NOT NULL DEFAULT clock_timestamp(),
  offset_ms double precision
) WITH (fillfactor = 50);

CREATE TABLE escapement.job (
  job_id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  namespace text NOT NULL,
  name text NOT NULL,
  ancestor integer REFERENCES escapement.job,
  state text NOT NULL CHECK (state IN ('active', 'paused', 'deleted')),
  state_reason text,
  state_since timestamptz NOT NULL DEFAULT clock_timestamp(),
  version integer NOT NULL CHECK (version >= 1),
  known_since timestamptz NOT NULL,
  -- Every fire up to here is accounted for by an execution row.
  planned_until timestamptz NOT NULL,
  UNIQUE (namespace, name)
) WITH (fillfactor = 80);
CREATE INDEX job_cursor ON escapement.job (planned_until) WHERE state <> 'deleted';

CREATE TABLE escapement.job_version (
  job_id integer NOT NULL REFERENCES escapement.job,
  version integer NOT NULL,
  digest text NOT NULL,
  definition jsonb NOT NULL,
  effective_from timestamptz NOT NULL,
  applied_by text NOT NULL,
  PRIMARY KEY (job_id, version)
);

-- Never pruned: one small row a period, so that no period is ever done twice.
CREATE TABLE escapement.job_period (
  job_id integer NOT NULL,
  period_key text NOT NULL,
  fire_time timestamptz NOT NULL,
  PRIMARY KEY (job_id, period_key)
);

CREATE TABLE escapement.execution (
  job_id integer NOT NULL,
  fire_time timestamptz NOT NULL,
  execution_id uuid NOT NULL DEFAULT gen_random_uuid(),
  run_no integer NOT NULL DEFAULT 1,
  trigger_type text NOT NULL CHECK (trigger_type IN ('schedule', 'misfire', 'manual')),
  status text NOT NULL CHECK (status IN ('planned', 'pending', 'running', 'success', 'failed',
                                         'interrupted', 'missed', 'blocked', 'cancelled')),
  period_key text,
  job_version integer NOT NULL,
  digest text NOT NULL,
  shard_count integer NOT NULL CHECK (shard_count >= 1),
  schedule_time timestamptz NOT NULL,
  planned_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  opened_at timestamptz,
  actual_start_time timestamptz,
  actual_end_time timestamptz,
  duration_ms bigint,
  missed_seconds double precision,
  epoch bigint,
  reason text,
  revoked_at timestamptz,
  PRIMARY KEY (job_id, fire_time)
) PARTITION BY RANGE (fire_time);

CREATE TABLE escapement.execution_live (
  job_id integer NOT NULL,
  fire_time timestamptz NOT NULL,
  state text NOT NULL CHECK (state IN ('planned', 'held', 'open')),
  due_at timestamptz NOT NULL,
  trigger_type text NOT NULL,
  -- Catch-up and backfill run one after the other: open only after the success of this fire.
  chain_after timestamptz,
  -- Set when the blocking policy made it wait, so that the wait does not count as a misfire.
  queued boolean NOT NULL DEFAULT false,
  started boolean NOT NULL DEFAULT false,
  catch_up boolean NOT NULL DEFAULT false,
  remaining integer NOT NULL,
  failed integer NOT NULL DEFAULT 0,
  cancelled integer NOT NULL DEFAULT 0,
  -- Copies from the definition that the execution was planned with.
  class smallint NOT NULL CHECK (class IN (1, 2, 3)),
  max_tries smallint NOT NULL,
  misfire_threshold_ms bigint NOT NULL,
  -- Opened is not started: a fire that its misfire policy would not run late must also be started
  -- within this time, or it is taken back and decided anew. Null: it may start at any time.
  start_within_ms bigint,
  start_by timestamptz,
  blocking text NOT NULL CHECK (blocking IN ('queue', 'forbid', 'replace', 'allow')),
  continue_fenced boolean NOT NULL,
  freezes boolean NOT NULL,
  PRIMARY KEY (job_id, fire_time)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
        autovacuum_vacuum_cost_delay = 0);
CREATE INDEX execution_live_due ON escapement.execution_live (due_at) WHERE state = 'planned';
CREATE INDEX execution_live_start_by ON escapement.execution_live (start_by)
  WHERE state = 'open' AND NOT started AND start_by IS NOT NULL;

CREATE TABLE escapement.shard (
  job_id integer NOT NULL,
  fire_time timestamptz NOT NULL,
  shard_no integer NOT NULL,
  status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'running', 'success', 'failed',
                                                           'interrupted', 'cancelled')),
  attempt integer NOT NULL DEFAULT 0,
  owner uuid,
  fence_token bigint,
  start_time timestamptz,
  end_time timestamptz,
  rows bigint,
  error text,
  PRIMARY KEY (job_id, fire_time, shard_no)
) PARTITION BY RANGE (fire_time);

CREATE TABLE escapement.shard_live (
  job_id integer NOT NULL,
  fire_time timestamptz NOT NULL,
  shard_no integer NOT NULL,
  class smallint NOT NULL,
  catch_up boolean NOT NULL,
  continue_fenced boolean NOT NULL,
  cancel_requested boolean NOT NULL DEFAULT false,
  max_tries smallint NOT NULL,
  tries smallint NOT NULL DEFAULT 0,
  attempt integer NOT NULL,
  run_after timestamptz NOT NULL,
  -- Not claimable after this, unless its execution has started.
  start_by timestamptz,
  interrupted boolean NOT NULL DEFAULT false,
  owner uuid,
  fence_token bigint,
  start_time timestamptz,
  PRIMARY KEY (job_id, fire_time, shard_no)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000,
        autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0,
        autovacuum_analyze_threshold = 50000);
CREATE INDEX shard_live_ready ON escapement.shard_live (class, catch_up, run_after) WHERE owner IS NULL;
CREATE INDEX shard_live_owner ON escapement.shard_live (owner) WHERE owner IS NOT NULL;

-- One row for every attempt that did not succeed.
CREATE TABLE escapement.shard_attempt (
  job_id integer NOT NULL,
  fire_time timestamptz NOT NULL,
  shard_no integer NOT NULL,
  attempt integer NOT NULL,
  outcome text NOT NULL CHECK (outcome IN ('failed', 'retry', 'interrupted', 'lease-expired', 'cancelled')),
  owner uuid,
  fence_token bigint,
  start_time timestamptz,
  end_time timestamptz NOT NULL DEFAULT clock_timestamp(),
  rows bigint,
  exit_code integer,
  error text,
  PRIMARY KEY (job_id, fire_time, shard_no, attempt)
) PARTITION BY RANGE (fire_time);

-- Writes that came too late and were refused: each is a double effect that did not happen.
CREATE TABLE escapement.stale_write (
  stale_write_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  job_id integer NOT NULL,
  fire_time timestamptz NOT NULL,
  shard_no integer NOT NULL,
  owner uuid NOT NULL,
  fence_token bigint NOT NULL,
  what text NOT NULL
);

-- Where a shard can go on after a kill; removed with the shard's success.
CREATE TABLE escapement.shard_checkpoint (
  job_id integer NOT NULL,
  fire_time timestamptz NOT NULL,
  shard_no integer NOT NULL,
  fence_token bigint NOT NULL,
  data text,
  rows bigint,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (job_id, fire_time, shard_no)
) WITH (fillfactor = 50);

-- The business keys of an execution that freezes its input before the first shard runs.
CREATE TABLE escapement.frozen_key (
  job_id integer NOT NULL,
  fire_time timestamptz NOT NULL,
  shard_no integer NOT NULL,
  key text NOT NULL,
  PRIMARY KEY (job_id, fire_time, shard_no, key)
) PARTITION BY RANGE (fire_time);

CREATE TABLE escapement.executor (
  incarnation uuid PRIMARY KEY,
  node text NOT NULL,
  host text NOT NULL,
  boot_id text NOT NULL,
  pid integer NOT NULL,
  process_start text NOT NULL,
  version text NOT NULL,
  state text NOT NULL CHECK (state IN ('active', 'draining', 'stopped', 'reaped')),
  started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  ended_at timestamptz,
  lease_ms integer NOT NULL,
  lease_until timestamptz NOT NULL,
  cpu_slots integer NOT NULL,
  memory_slots integer NOT NULL,
  io_slots integer NOT NULL,
  offset_ms double precision
) WITH (fillfactor = 50);

CREATE SEQUENCE escapement.fence_sequence AS bigint MAXVALUE 1099511627775 CACHE 1;

-- Serialises claims of catch-up shards, so that their cluster-wide cap holds exactly.
CREATE TABLE escapement.catch_up_gate (only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row));
INSERT INTO escapement.catch_up_gate DEFAULT VALUES;

CREATE TABLE escapement.operation (
  operation_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  person text NOT NULL,
  action text NOT NULL,
  job_id integer,
  fire_time timestamptz,
  reason text NOT NULL,
  before jsonb,
  after jsonb
);
CREATE INDEX operation_job ON escapement.operation (job_id, at);

CREATE TABLE escapement.clock_sample (
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  node text NOT NULL,
  part text NOT NULL,
  kind text NOT NULL CHECK (kind IN ('offset', 'step')),
  offset_ms double precision NOT NULL,
  round_trip_ms double precision
);
CREATE INDEX clock_sample_at ON escapement.clock_sample (at);

CREATE TABLE escapement.alert_outbox (
  alert_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  dedup_key text NOT NULL UNIQUE,
  kind text NOT NULL,
  severity text NOT NULL CHECK (severity IN ('info', 'warning', 'critical')),
  job_id integer,
  fire_time timestamptz,
  message text NOT NULL,
  details jsonb,
  count integer NOT NULL DEFAULT 1,
  first_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  last_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  sent_at timestamptz
);
