/** Reads the job files that a command was given, with everything that can be checked without a record store. */
import type { ClusterDefinition } from "../../spec/cluster-definition.ts";
import type { ResolvedJob } from "../../spec/definitions.ts";
import type { Kind } from "../../spec/kinds.ts";
import { loadFiles } from "../../spec/load.ts";
import { compareProblems, formatProblem, type Problem } from "../../spec/problem.ts";
import { resolveJobs } from "../../spec/resolve.ts";
import { loadCluster } from "../../spec/resolve-cluster.ts";
import { validateSchedule } from "./validate-schedule.ts";

export interface JobFiles {
  readonly files: number;
  /** How many documents of each kind, right or wrong. */
  readonly counts: Readonly<Partial<Record<Kind, number>>>;
  readonly jobs: readonly ResolvedJob[];
  /** The cluster of `--cluster`, if it was given and is right. */
  readonly cluster: ClusterDefinition | undefined;
  readonly problems: readonly Problem[];
}

/** Never throws for what is in the files. @param clusterFile checks the jobs against this cluster, too */
export async function readJobFiles(paths: readonly string[], clusterFile?: string): Promise<JobFiles> {
  const named = clusterFile === undefined ? undefined : await loadCluster(clusterFile);
  const loaded = await loadFiles(paths);
  const resolved = resolveJobs(loaded.documents, {
    validateSchedule,
    ...(named?.cluster && { cluster: named.cluster }),
  });
  const counts: Partial<Record<Kind, number>> = {};
  for (const { kind } of loaded.documents) counts[kind] = (counts[kind] ?? 0) + 1;
  // The cluster file may be among the paths as well; a problem is told once.
  const all = [...loaded.problems, ...resolved.problems, ...(named?.problems ?? [])];
  const problems = [...new Map(all.map((problem) => [formatProblem(problem), problem])).values()];
  return {
    files: loaded.files,
    counts,
    jobs: resolved.jobs,
    cluster: named?.cluster,
    problems: problems.sort(compareProblems),
  };
}
