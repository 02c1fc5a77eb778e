/** An execution that failed for good and was not run again: nobody will, unless a person does. */
import type { Finding } from "../finding.ts";
import { about, argument, instant, type Rule } from "./rule.ts";

export const retryExhausted: Rule = (picture, settings) => {
  const jobs = new Map(picture.jobs.map((job) => [job.jobId, job]));
  const findings: Finding[] = [];
  for (const failed of picture.failed) {
    const job = jobs.get(failed.jobId);
    if (!job || failed.at.getTime() < picture.now.getTime() - settings.failedForMs) continue;
    const fireMs = failed.fireTime.getTime();
    findings.push({
      rule: "retry-exhausted",
      // The store has raised this alert itself, in the statement that gave up: one trouble, one key.
      key: failed.dedupKey,
      severity: "critical",
      ...about(job, fireMs),
      message: `${job.job}: the fire of ${instant(fireMs)} has failed: ${failed.message}`,
      evidence: { failedAt: failed.at, message: failed.message },
      hint: `escapement diagnose --job ${argument(job.job)} --from ${instant(fireMs)}`,
    });
  }
  return findings;
};
