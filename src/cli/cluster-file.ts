/** Reads `--cluster FILE` for the commands that cannot do without it. */
import type { ClusterDefinition } from "../spec/cluster-definition.ts";
import { refuseProblems } from "./problems.ts";

/** @throws E_SPEC_INVALID after telling every problem of the file on standard error */
export async function readCluster(file: string): Promise<ClusterDefinition> {
  const { loadCluster } = await import("../spec/resolve-cluster.ts");
  const { cluster, problems } = await loadCluster(file);
  refuseProblems(problems);
  return cluster!;
}
