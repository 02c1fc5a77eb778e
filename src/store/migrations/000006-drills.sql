-- kind: expand
-- Drills and the checklist keep their records; hosts say more about themselves; work of the class
-- `control` (drills on their timetable) runs only where somebody gave it slots.

ALTER TABLE escapement.execution_live DROP CONSTRAINT execution_live_class_check;
ALTER TABLE escapement.execution_live ADD CONSTRAINT execution_live_class_check CHECK (class IN (1, 2, 3, 4));

ALTER TABLE escapement.executor
  ADD COLUMN control_slots integer NOT NULL DEFAULT 0,
  -- What the host's own time daemon says of itself; null: not asked, or no answer.
  ADD COLUMN time_source jsonb;

ALTER TABLE escapement.scheduler
  ADD COLUMN time_source jsonb,
  -- Whether the host holds the virtual address; null: it has none, or could not look.
  ADD COLUMN holds_virtual_address boolean,
  ADD COLUMN virtual_address_seen_at timestamptz;

-- The file systems of the store's own host, as a small timer there writes them.
CREATE TABLE escapement.store_disk (
  host text NOT NULL,
  path text NOT NULL,
  total_bytes bigint NOT NULL,
  free_bytes bigint NOT NULL,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (host, path)
);

-- A drill is one row. At most one is not ended: the lock of the cluster.
CREATE TABLE escapement.drill_run (
  run_id uuid PRIMARY KEY,
  drill text NOT NULL,
  class text NOT NULL,
  digest text NOT NULL,
  -- Who asked: a person, or the execution that fired it.
  person text NOT NULL,
  trigger_type text NOT NULL CHECK (trigger_type IN ('manual', 'schedule')),
  version text NOT NULL,
  controller text NOT NULL,
  -- The controller is alive until then. After it, any other may put the hosts right and end the run.
  lease_until timestamptz NOT NULL,
  state text NOT NULL CHECK (state IN ('preflight', 'armed', 'fault', 'restoring', 'settling', 'judging', 'ended')),
  targets jsonb NOT NULL DEFAULT '[]',
  started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  fault_at timestamptz,
  restored_at timestamptz,
  ended_at timestamptz,
  abort_requested_at timestamptz,
  abort_reason text,
  verdict text CHECK (verdict IN ('pass', 'fail', 'unknown')),
  -- Why the verdict is what it is, in one sentence.
  reason text,
  -- Counts by failure class, proof, residue; the whole history is a file beside the controller.
  summary jsonb,
  CHECK ((ended_at IS NULL) = (state <> 'ended')),
  CHECK ((verdict IS NULL) = (ended_at IS NULL))
);
CREATE UNIQUE INDEX drill_run_one ON escapement.drill_run ((true)) WHERE ended_at IS NULL;
CREATE INDEX drill_run_class ON escapement.drill_run (class, started_at DESC);

-- The stop switch of the cluster: while a row is not lifted, no drill starts and a running one restores.
CREATE TABLE escapement.drill_halt (
  halt_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  person text NOT NULL,
  reason text NOT NULL,
  lifted_at timestamptz,
  lifted_by text
);
CREATE UNIQUE INDEX drill_halt_one ON escapement.drill_halt ((true)) WHERE lifted_at IS NULL;

CREATE TABLE escapement.checklist_run (
  run_id uuid PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  person text NOT NULL,
  version text NOT NULL,
  commit_id text,
  definitions_digest text NOT NULL,
  outcome text NOT NULL CHECK (outcome IN ('pass', 'fail', 'unknown')),
  -- One entry an item: its number, verdict and one sentence.
  items jsonb NOT NULL
);
CREATE INDEX checklist_run_at ON escapement.checklist_run (at DESC);

-- Backups that were made, and backups that were really restored somewhere and counted.
CREATE TABLE escapement.backup_record (
  backup_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  kind text NOT NULL CHECK (kind IN ('backup', 'restore')),
  person text NOT NULL,
  host text NOT NULL,
  -- What was backed up or restored, and where to.
  what text NOT NULL,
  bytes bigint,
  -- Of a restore: rows of every table compared with the source.
  checked jsonb,
  ok boolean NOT NULL,
  reason text
);
CREATE INDEX backup_record_at ON escapement.backup_record (kind, at DESC);

REVOKE ALL ON escapement.store_disk, escapement.drill_run, escapement.drill_halt, escapement.checklist_run,
  escapement.backup_record FROM PUBLIC;
GRANT SELECT ON escapement.store_disk, escapement.drill_run, escapement.drill_halt, escapement.checklist_run,
  escapement.backup_record TO escapement_scheduler, escapement_executor, escapement_watchman, escapement_reader;
-- People's commands use the scheduler's role; drills on the timetable run on the watchman's host.
GRANT INSERT, UPDATE ON escapement.drill_run, escapement.drill_halt TO escapement_scheduler, escapement_watchman;
GRANT INSERT ON escapement.checklist_run, escapement.backup_record TO escapement_scheduler, escapement_watchman;
GRANT INSERT, UPDATE, DELETE ON escapement.store_disk TO escapement_scheduler;
GRANT DELETE ON escapement.drill_run, escapement.drill_halt, escapement.checklist_run, escapement.backup_record
  TO escapement_scheduler;
