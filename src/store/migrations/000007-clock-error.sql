-- kind: expand
-- An offset that a process has measured is right to within half of the trip it was measured on.
-- Processes of the version before do not say it: null.

ALTER TABLE escapement.executor ADD COLUMN offset_error_ms double precision;
ALTER TABLE escapement.scheduler ADD COLUMN offset_error_ms double precision;

-- As executor_renew(uuid, double precision), which executors of the version before call.
CREATE FUNCTION escapement.executor_renew(p_incarnation uuid, p_offset_ms double precision, p_offset_error_ms double precision)
RETURNS timestamptz LANGUAGE sql AS $$
  UPDATE escapement.executor
  SET lease_until = clock_timestamp() + make_interval(secs => lease_ms / 1000.0), offset_ms = p_offset_ms,
      offset_error_ms = p_offset_error_ms
  WHERE incarnation = p_incarnation AND lease_until > clock_timestamp() AND state IN ('active', 'draining')
  RETURNING clock_timestamp()
$$;
REVOKE ALL ON FUNCTION escapement.executor_renew(uuid, double precision, double precision) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION escapement.executor_renew(uuid, double precision, double precision) TO escapement_scheduler, escapement_executor;
