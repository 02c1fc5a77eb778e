/** A workload, summed up as the storage calculator asks it. */
import type { Workload } from "../../spec/workload-schema.ts";
import { type StorageQuestion, storageDefaults } from "./question.ts";

/** Lines of a workload differ in shards; the storage model takes their mean by executions. */
export function questionFromWorkload(workload: Workload): StorageQuestion {
  const runsPerDay = workload.jobs.reduce((sum, job) => sum + job.jobs * job.runsPerDay, 0);
  const shardsPerDay = workload.jobs.reduce((sum, job) => sum + job.jobs * job.runsPerDay * job.shards, 0);
  const { records, busiest } = workload;
  return {
    ...storageDefaults,
    runsPerDay,
    shards: Math.max(1, Math.round(shardsPerDay / runsPerDay)),
    rowBytes: records.bytesPerShard,
    jobs: workload.jobs.reduce((sum, { jobs }) => sum + jobs, 0),
    retryShare: records.retryShare,
    retentionMonths: records.retentionMonths,
    growthPerYear: workload.growthPerYear,
    archiveDays: records.archiveDays,
    busiestShare: busiest.share,
    busiestMs: busiest.within,
  };
}
