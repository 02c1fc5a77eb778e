-- kind: expand
-- The watchman's books: what it has found, what was told to whom, what stays quiet, and that it lives.

ALTER TABLE escapement.alert_outbox
  -- True: the watchman found it and ends it. False: somebody has noted it with raise_alert.
  ADD COLUMN watched boolean NOT NULL DEFAULT false,
  ADD COLUMN job text,
  ADD COLUMN cause text,
  ADD COLUMN hint text,
  -- Grows when the same trouble comes back after its end.
  ADD COLUMN episode integer NOT NULL DEFAULT 1,
  -- Null: seen, but not for long enough.
  ADD COLUMN opened_at timestamptz,
  ADD COLUMN resolved_at timestamptz,
  ADD COLUMN told_at timestamptz,
  ADD COLUMN told_severity text,
  -- Why nobody is told, where that is so.
  ADD COLUMN quiet text,
  ADD COLUMN escalated_at timestamptz,
  ADD COLUMN acknowledged_at timestamptz,
  ADD COLUMN acknowledged_by text,
  -- Everyone who was told in this episode, and so must be told of its end.
  ADD COLUMN channels text[] NOT NULL DEFAULT '{}';
CREATE INDEX alert_outbox_unresolved ON escapement.alert_outbox (last_at) WHERE resolved_at IS NULL;

-- One row a message and channel. Accepted is written only after the receiver has accepted.
CREATE TABLE escapement.alert_delivery (
  delivery_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- The same for every try and channel: a message is queued once for each channel, whoever queues it again.
  message_id text NOT NULL,
  channel text NOT NULL,
  alert_key text NOT NULL REFERENCES escapement.alert_outbox (dedup_key) ON DELETE CASCADE,
  message jsonb NOT NULL,
  fallback text[] NOT NULL DEFAULT '{}',
  state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'accepted', 'failed')),
  attempts integer NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  next_try_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  claimed_by text,
  claimed_until timestamptz,
  accepted_at timestamptz,
  last_error text,
  UNIQUE (message_id, channel)
);
CREATE INDEX alert_delivery_pending ON escapement.alert_delivery (channel, delivery_id) WHERE state = 'pending';

-- Silences made by command; those of the watch file are in the file.
CREATE TABLE escapement.silence (
  silence_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  match jsonb NOT NULL,
  until timestamptz NOT NULL,
  reason text NOT NULL,
  person text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  ended_at timestamptz
);

CREATE TABLE escapement.watchman (
  node text PRIMARY KEY,
  host text NOT NULL,
  pid integer NOT NULL,
  version text NOT NULL,
  started_at timestamptz NOT NULL,
  last_pass_at timestamptz NOT NULL,
  -- Until then nothing new alerts.
  grace_until timestamptz NOT NULL
);

REVOKE ALL ON escapement.alert_delivery, escapement.silence, escapement.watchman FROM PUBLIC;
GRANT SELECT ON escapement.alert_delivery, escapement.silence, escapement.watchman
  TO escapement_scheduler, escapement_executor, escapement_watchman, escapement_reader;
-- For the commands of people.
GRANT INSERT, UPDATE ON escapement.silence TO escapement_scheduler;
GRANT INSERT, UPDATE, DELETE ON escapement.alert_outbox TO escapement_watchman;
GRANT INSERT, UPDATE ON escapement.alert_delivery, escapement.watchman TO escapement_watchman;
