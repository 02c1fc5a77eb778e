/** What must be so before a fault as far as the records know it: a plan asks the same as the run. Pure. */
import type { DrillDefinition } from "../../spec/drill-definition.ts";
import type { ClusterRoles } from "./drilled-cluster.ts";
import { probeRoom } from "./probe-room.ts";

/** One thing that must be so before a fault, and whether it is. */
export interface PreflightItem {
  readonly what: string;
  /** Null: nobody could look, or it has to be looked at again. It keeps no drill from beginning, and is no check that was passed. */
  readonly ok: boolean | null;
  readonly detail: string;
  /** What helps, if it is not so and that can be said. */
  readonly hint?: string;
  /** It is about the cluster: no other variant, and no other host, would find it different. */
  readonly everywhere?: true;
}

const mostReplicaLagMs = 10_000;
const replicaHint =
  "give the login of drills pg_read_all_stats: escapement store grant LOGIN --as drill, as a superuser of the server";

/**
 * Whether who follows the record store keeps up. A drill that breaks the store does not begin where nobody may look.
 * @param replicas null: this login may not see them
 */
export function replicationItem(
  { blastRadius }: Pick<DrillDefinition, "blastRadius">,
  replicas: readonly { readonly name: string; readonly lagMs: number }[] | null,
): PreflightItem {
  const what = "replication keeps up";
  if (replicas === null) {
    const detail = "not looked at: this login may not see who follows the record store";
    const ok = blastRadius.recordStore ? false : null;
    return { what, ok, detail, hint: replicaHint, everywhere: true };
  }
  const late = replicas.filter(({ lagMs }) => lagMs > mostReplicaLagMs);
  const behind = replicas.map(({ name, lagMs }) => `${name} ${Math.round(lagMs)} ms behind`);
  return { ...item(what, late.length === 0, behind.join(", ") || "there is no replica"), everywhere: true };
}

/** Leader, standby, executors, room and backlog, in this order. */
export function clusterItems({ steadyState, load }: DrillDefinition, roles: ClusterRoles): PreflightItem[] {
  return [
    item("somebody leads", roles.leader.alive, roles.leader.node ?? "nobody"),
    ...(steadyState.standbyHealthy ? [standby(roles)] : []),
    executors(roles),
    room(load, roles),
    item(
      `fewer than ${steadyState.backlogBelow} shards wait`,
      roles.backlog < steadyState.backlogBelow,
      `${roles.backlog} wait`,
    ),
  ].map((one) => ({ ...one, everywhere: true }));
}

function item(what: string, ok: boolean, detail: string): PreflightItem {
  return { what, ok, detail };
}

function standby({ schedulers, leader }: ClusterRoles): PreflightItem {
  const ready = schedulers.filter(({ role, node }) => role === "standby" && node !== leader.node);
  const detail = ready.length > 0 ? ready.map(({ node }) => node).join(", ") : "no standby has been heard of";
  return item("a standby is healthy", ready.length > 0, detail);
}

function executors({ executors: all }: ClusterRoles): PreflightItem {
  // The watchman's executor has slots of the class control alone: it takes no work but drills.
  const living = all.filter(
    ({ state, expired, cpu, memory, io }) => state === "active" && !expired && cpu + memory + io > 0,
  );
  const detail = `${living.map(({ node }) => node).join(", ") || "none"}`;
  return item("two executors live", new Set(living.map(({ node }) => node)).size >= 2, detail);
}

function room(load: DrillDefinition["load"], roles: ClusterRoles): PreflightItem {
  const { class: name, left, needed, slots } = probeRoom(roles.executors, load);
  const have = slots.filter(({ count }) => count > 0);
  const list = have.map(({ node, count }) => `${node} has ${count}`).join(", ") || "nobody has any";
  const found: PreflightItem = item(
    "executors can take each other's work",
    left >= needed,
    `${left} ${name} slots without the largest executor; the drill's own work needs ${needed} (${list})`,
  );
  if (left >= needed) return found;
  const hint =
    `two executors of one class need ${needed} slots of it each: give their hosts one profile (as executor-cpu), and, ` +
    "where the machines are small, the settings cores and memory in the inventory, as in docs/drills.md; " +
    "escapement explain HOST executor.slots shows what they come to";
  return { ...found, hint };
}
