/** How many fires of today are still to come: counted from the schedules, a few milliseconds at a time. */
import { jobSchedule } from "../../schedule/job-schedule.ts";
import type { JobEntry } from "./job-entry.ts";

interface Counted {
  readonly version: number;
  readonly state: JobEntry["state"];
  readonly dayEndMs: number;
  /** The count holds until the next fire has passed. */
  readonly untilMs: number;
  readonly fires: number;
}

/** A job with more fires than this is counted anew every five minutes only. */
const dense = 2_000;
const most = 100_000;

export class AheadCount {
  readonly #counted = new Map<number, Counted>();
  #next = 0;

  /** Goes on counting for about `budgetMs`. @returns true when something changed */
  step(jobs: readonly JobEntry[], nowMs: number, budgetMs: number): boolean {
    const dayEndMs = nowMs - (nowMs % 86_400_000) + 86_400_000;
    const stopAt = performance.now() + budgetMs;
    let changed = false;
    for (let looked = 0; looked < jobs.length; looked++) {
      const job = jobs[this.#next % jobs.length]!;
      this.#next = (this.#next + 1) % jobs.length;
      const old = this.#counted.get(job.jobId);
      if (
        old &&
        old.version === job.version &&
        old.state === job.state &&
        old.dayEndMs === dayEndMs &&
        nowMs < old.untilMs
      )
        continue;
      this.#counted.set(job.jobId, countJob(job, nowMs, dayEndMs));
      changed = true;
      if (performance.now() > stopAt) break;
    }
    return changed;
  }

  /** Over the given jobs, and for how many of them it is known. */
  total(jobs: readonly JobEntry[]): { readonly fires: number; readonly counted: number } {
    let fires = 0;
    let counted = 0;
    for (const { jobId } of jobs) {
      const known = this.#counted.get(jobId);
      if (!known) continue;
      fires += known.fires;
      counted += 1;
    }
    if (this.#counted.size > jobs.length * 2) this.#counted.clear();
    return { fires, counted };
  }
}

function countJob(job: JobEntry, nowMs: number, dayEndMs: number): Counted {
  const { version, state, definition } = job;
  const base = { version, state, dayEndMs };
  const schedule = state === "active" && job.problem === null ? jobSchedule(definition) : null;
  if (!schedule) return { ...base, untilMs: Number.POSITIVE_INFINITY, fires: 0 };
  const fires = schedule.between(nowMs, dayEndMs - 1, most);
  const untilMs = fires.length > dense ? nowMs + 300_000 : (fires[0] ?? Number.POSITIVE_INFINITY);
  return { ...base, untilMs, fires: fires.length };
}
