-- kind: expand
-- The leader ends the probes of a drill that nobody leads any more.
GRANT EXECUTE ON FUNCTION escapement.drill_job_end, escapement.drill_job_cancel TO escapement_scheduler;
