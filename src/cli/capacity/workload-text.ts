/** Writes an observed workload as the YAML that the other commands read. */
import { formatDuration } from "../../base/duration.ts";
import type { ObservedWorkload } from "./observed-workload.ts";

export function workloadText(name: string, observed: ObservedWorkload): string {
  const { jobs, days, observedAt } = observed;
  const lines = [
    "# Written by escapement capacity from-cluster. What records cannot tell is left out:",
    "# networkPerShard, iopsPerShard, canRunAway, growthPerYear, peaks, executorChangesPerMonth.",
    "apiVersion: escapement/v1",
    "kind: Workload",
    "metadata:",
    `  name: ${name}`,
    "spec:",
    `  origin: ${JSON.stringify(`record store, ${days.toFixed(1)} days until ${observedAt.toISOString()}`)}`,
    `  executorNodes: ${observed.executorNodes}`,
    "  jobs:",
    ...jobs.flatMap((job) => [
      `    - name: ${slug(job.name)}`,
      `      # ${job.runs} finished runs; peak memory as the job file declares it`,
      `      class: ${job.class}`,
      `      runsPerDay: ${digits(job.runsPerDay)}`,
      `      shards: ${job.shards}`,
      `      totalTime: ${formatDuration(job.totalTimeMs)}`,
      ...(job.periodMs === undefined ? [] : [`      period: ${formatDuration(job.periodMs)}`]),
      ...(job.rowsPerRun === undefined ? [] : [`      rowsPerRun: ${job.rowsPerRun}`]),
      `      memory: { peak: ${job.peakMemoryBytes}B }`,
    ]),
    "  records:",
    `    retentionMonths: ${observed.retentionMonths}`,
    `    bytesPerShard: ${observed.bytesPerShard}`,
    `    retryShare: ${digits(observed.retryShare)}`,
    `  busiest: { share: ${digits(observed.busiestShare)}, within: ${formatDuration(observed.busiestMs)} }`,
  ];
  return `${lines.join("\n")}\n`;
}

/** `pay/bonus` becomes `pay-bonus`: a workload has no namespaces. */
function slug(name: string): string {
  return name.replace(/[^a-z0-9]+/g, "-").slice(0, 63);
}

function digits(value: number): string {
  return String(Number(value.toPrecision(4)));
}
