/** When a job did not fire on purpose: its pauses, and the time since it was deleted. */
import type { FireJob } from "../../store/diagnose/fire-jobs.ts";
import { pausesFrom } from "../job-memory.ts";

export interface Pause {
  readonly from: Date;
  /** Null: still. */
  readonly to: Date | null;
}

const changes = ["jobs pause", "jobs resume", "jobs delete"] as const;
type Change = (typeof changes)[number];

export function pausesOf(job: FireJob): Pause[] {
  const recorded = job.operations.filter((one): one is typeof one & { action: Change } =>
    changes.some((change) => change === one.action),
  );
  if (job.state !== "deleted") return pausesFrom(recorded, { state: job.state, stateSince: job.stateSince });
  const before = pausesFrom(recorded, { state: "active", stateSince: job.stateSince });
  return [...before, { from: job.stateSince, to: null }];
}
