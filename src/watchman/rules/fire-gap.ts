/**
 * A fire without a row although the scheduler has gone past it: a hole between
 * fires that exist. A later run hides it from everybody who looks at the latest
 * run only.
 */
import { expectedFires } from "../expected-fires.ts";
import type { Finding } from "../finding.ts";
import { absentByJob } from "./not-opened.ts";
import { about, argument, instant, type Rule } from "./rule.ts";

export const fireGap: Rule = (picture) => {
  const findings: Finding[] = [];
  const absent = absentByJob(picture);
  for (const job of picture.jobs) {
    const holes = (absent.get(job.jobId) ?? []).filter((fireMs) => fireMs <= job.plannedUntil.getTime());
    for (const run of runs(holes, (a, b) => expectedFires(job, a, b, 1)[0] === b)) {
      const [first, last] = [run[0]!, run.at(-1)!];
      const which =
        run.length === 1
          ? `the fire of ${instant(first)}`
          : `${run.length} fires from ${instant(first)} to ${instant(last)}`;
      findings.push({
        rule: "fire-gap",
        key: `fire-gap:${job.jobId}:${instant(first)}`,
        severity: "critical",
        ...about(job, first),
        message: `${job.job} has no record of ${which}, although later fires are planned`,
        evidence: {
          fires: run.slice(0, 20).map(instant),
          count: run.length,
          plannedUntil: instant(job.plannedUntil.getTime()),
        },
        hint: `escapement backfill ${argument(job.job)} --from ${instant(first)} --to ${instant(last)} --reason 'lost fires'`,
      });
    }
  }
  return findings;
};

/** Cuts an ascending list into stretches of neighbours. */
function runs(fires: readonly number[], neighbours: (a: number, b: number) => boolean): number[][] {
  const found: number[][] = [];
  for (const fire of fires) {
    const current = found.at(-1);
    if (current && neighbours(current.at(-1)!, fire)) current.push(fire);
    else found.push([fire]);
  }
  return found;
}
