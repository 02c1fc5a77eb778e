/** Reading the cluster file that a command was given. */
import { EscapementError } from "../base/errors.ts";
import type { ClusterDefinition } from "../spec/cluster-definition.ts";
import { loadCluster } from "../spec/resolve-cluster.ts";
import { failOnProblems } from "./problems.ts";

/** The one cluster of a file. @throws E_SPEC_INVALID after printing every problem */
export async function requireCluster(file: string): Promise<ClusterDefinition> {
  const { cluster, problems } = await loadCluster(file);
  failOnProblems(problems);
  if (!cluster) throw new EscapementError("E_BUG", { what: `no cluster and no problem in ${file}` });
  return cluster;
}

/**
 * The node a process was started as: the named one, or the only one.
 * @throws E_BAD_VALUE naming the choices
 */
export function chooseNode<Node extends { readonly name: string }>(
  nodes: readonly Node[],
  wanted: string | undefined,
): Node {
  const found =
    wanted === undefined
      ? nodes.length === 1
        ? nodes[0]
        : undefined
      : nodes.find((node) => node.name === wanted);
  if (found) return found;
  const names = nodes.map((node) => node.name).join(", ");
  if (wanted === undefined) {
    throw new EscapementError("E_USAGE", {
      what: names ? `--node is needed: the file has ${names}` : "the cluster file has no such nodes",
    });
  }
  throw new EscapementError("E_BAD_VALUE", {
    option: "--node",
    value: wanted,
    expected: "a node of the cluster file",
    hint: names ? `the file has: ${names}` : "the file has no such nodes",
  });
}
