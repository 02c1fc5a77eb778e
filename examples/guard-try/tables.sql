-- The tables of the examples: who is due a bonus, and who was given one. The job's role gets what it needs.
CREATE TABLE bonus_due (batch_id text NOT NULL, user_id text NOT NULL, cents bigint NOT NULL);
CREATE TABLE reward_records (batch_id text NOT NULL, user_id text NOT NULL, cents bigint NOT NULL);
INSERT INTO bonus_due VALUES ('2026-07', 'ada', 1050), ('2026-07', 'bob', 2999), ('2026-07', 'zoe', 1);
GRANT SELECT ON bonus_due TO payroll_job;
GRANT SELECT, INSERT ON reward_records TO payroll_job;
