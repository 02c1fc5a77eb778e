/** What the screens are told of all jobs at once. */
import { binMs, type FireBin } from "../../store/ui/job-slice.ts";
import { type FireTotals, firstBinOfDay, timeline, totalsFrom } from "./day.ts";
import type { JobEntry, TroubleRow } from "./job-entry.ts";

export interface JobsView {
  /** Those that are there. */
  readonly jobs: readonly JobEntry[];
  /** Those that should fire and whose schedule cannot be read on this machine: what is missing of them nobody can say. */
  readonly unreadable: number;
  /** With those that were deleted within the last day: their fires count. */
  readonly byId: ReadonlyMap<number, JobEntry>;
  /** Since midnight UTC. */
  readonly today: FireTotals;
  /** Since midnight UTC: fires that the schedules ask for and that no record mentions. */
  readonly unplannedToday: number;
  /** 96 quarters of an hour; see unplanned for fires without a record. */
  readonly timeline: readonly (FireBin & { readonly unplanned: number })[];
  /** What went wrong in 24 hours, newest first. */
  readonly trouble: readonly TroubleRow[];
  /** False until every job has been read once. */
  readonly complete: boolean;
}

const mostTrouble = 500;

export function viewOf(
  known: readonly JobEntry[],
  sums: ReadonlyMap<number, FireBin>,
  nowMs: number,
  complete: boolean,
): JobsView {
  const jobs = known.filter(({ state }) => state !== "deleted");
  const firstBin = firstBinOfDay(nowMs);
  const unplanned = new Map<number, number>();
  let unplannedToday = 0;
  for (const { unplannedMs } of known) {
    for (const fireMs of unplannedMs) {
      const bin = Math.floor(fireMs / binMs);
      unplanned.set(bin, (unplanned.get(bin) ?? 0) + 1);
      if (bin >= firstBin) unplannedToday += 1;
    }
  }
  return {
    jobs,
    unreadable: jobs.filter(({ state, problem }) => state === "active" && problem !== null).length,
    byId: new Map(known.map((job) => [job.jobId, job])),
    today: totalsFrom(sums.values(), firstBin),
    unplannedToday,
    timeline: timeline(sums, nowMs).map((one) => ({ ...one, unplanned: unplanned.get(one.bin) ?? 0 })),
    trouble: troubleOf(known),
    complete,
  };
}

function troubleOf(jobs: readonly JobEntry[]): TroubleRow[] {
  const rows: TroubleRow[] = [];
  for (const { jobId, label, trouble, unplannedMs } of jobs) {
    for (const { fireTime, status, reason } of trouble) {
      rows.push({
        jobId,
        label,
        fireMs: fireTime.getTime(),
        status: status as TroubleRow["status"],
        reason: reason ?? "",
      });
    }
    for (const fireMs of unplannedMs.slice(-8)) {
      rows.push({
        jobId,
        label,
        fireMs,
        status: "no record",
        reason: "the schedule asks for it, and nobody has planned it: no scheduler leads, or it is behind",
      });
    }
  }
  return rows.sort((a, b) => b.fireMs - a.fireMs || a.label.localeCompare(b.label)).slice(0, mostTrouble);
}
