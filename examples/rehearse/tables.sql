-- The database that both jobs of this example work on. Run it in a scratch database.
CREATE TABLE payment (
  day date NOT NULL,
  supplier_id text NOT NULL,
  pence bigint NOT NULL
);
INSERT INTO payment
  SELECT date '2026-07-01' + n % 3, 'S-' || n % 5, 100 + n FROM generate_series(1, 60) n;

CREATE TABLE supplier_total (
  supplier_id text PRIMARY KEY,
  pence bigint NOT NULL DEFAULT 0
);
INSERT INTO supplier_total (supplier_id) SELECT DISTINCT supplier_id FROM payment;
