-- The database that the jobs of this example work on. It is not the record store:
-- jobs never see that one.

-- Money is whole pence everywhere. Rows may look alike and be separate payments all
-- the same, so a row is named by the file and line that it came from.
CREATE TABLE payment (
  file text NOT NULL,
  row_no integer NOT NULL,
  period text NOT NULL,
  payment_date date NOT NULL,
  unit text,
  supplier_id text NOT NULL,
  pence bigint NOT NULL,
  PRIMARY KEY (file, row_no)
);
CREATE INDEX payment_period ON payment (period, supplier_id);

-- On purpose without a unique key: here a doubled row can be seen, not only refused.
CREATE TABLE settlement (
  period text NOT NULL,
  supplier_id text NOT NULL,
  payments bigint NOT NULL,
  pence bigint NOT NULL,
  fence_token bigint NOT NULL
);
CREATE INDEX settlement_period ON settlement (period, supplier_id);

-- The same: one row for every time that a snapshot was taken.
CREATE TABLE snapshot (
  job text NOT NULL,
  fire_time timestamptz NOT NULL,
  payments bigint NOT NULL,
  pence bigint NOT NULL
);

CREATE TABLE person (
  person_id text PRIMARY KEY,
  bonus_pence bigint NOT NULL CHECK (bonus_pence > 0)
);

-- The highest fence token that has written each resource. Who comes with a lower one is too late.
CREATE TABLE fence (
  resource text PRIMARY KEY,
  token bigint NOT NULL
);
CREATE TABLE refused_write (
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  resource text NOT NULL,
  token bigint NOT NULL
);

-- The shard that a key belongs to, as every part of Escapement computes it: the first
-- eight hex digits of its MD5 as a number, modulo the number of shards.
CREATE FUNCTION shard_of(key text, shards integer) RETURNS integer LANGUAGE sql IMMUTABLE STRICT AS $$
  SELECT (('x' || substr(md5(key), 1, 8))::bit(32)::bigint % shards)::integer
$$;

DO $$ BEGIN
  IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'ledger_job') THEN CREATE ROLE ledger_job LOGIN; END IF;
END $$;
GRANT SELECT ON payment, person TO ledger_job;
GRANT SELECT, INSERT, UPDATE, DELETE ON settlement, snapshot, fence TO ledger_job;
GRANT INSERT ON refused_write TO ledger_job;
