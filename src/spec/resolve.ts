/** From checked documents to definitions that the rest of the program works with. */
import type { ClusterDefinition } from "./cluster-definition.ts";
import type { Resolution, ResolvedCluster, ResolvedJob, ValidateSchedule } from "./definitions.ts";
import { documentsOf, type LoadedDocument } from "./load.ts";
import { compareProblems, type Problem } from "./problem.ts";
import { resolveCluster } from "./resolve-cluster.ts";
import { resolveJob } from "./resolve-job.ts";

export interface ResolveOptions {
  /** Judges cron expressions and intervals; without it they are taken as written. */
  readonly validateSchedule?: ValidateSchedule;
  /** Jobs are also checked against this cluster. */
  readonly cluster?: ClusterDefinition;
  /** For the look ahead at changes of the clocks; the present by default. */
  readonly now?: Date;
}

/**
 * Merges jobs with their policy sets and checks what only the whole can show.
 * Documents with problems of their own are passed over: those are in what
 * {@link loadFiles} returned.
 */
export function resolveJobs(documents: readonly LoadedDocument[], options: ResolveOptions = {}): Resolution {
  const policySets = new Map<string, LoadedDocument<"PolicySet">>();
  for (const document of documents) {
    if (document.kind === "PolicySet" && document.id !== undefined && !policySets.has(document.id))
      policySets.set(document.id, document as LoadedDocument<"PolicySet">);
  }
  const context = {
    policySets,
    validateSchedule: options.validateSchedule,
    cluster: options.cluster,
    now: options.now ?? new Date(),
  };
  const jobs: ResolvedJob[] = [];
  const problems: Problem[] = [];
  for (const document of documentsOf(documents, "Job")) {
    const resolved = resolveJob(document, context);
    if (resolved.job) jobs.push(resolved.job);
    problems.push(...resolved.problems);
  }
  const clusters: ResolvedCluster[] = documentsOf(documents, "Cluster").map(resolveCluster);
  return { jobs, clusters, problems: problems.sort(compareProblems) };
}
