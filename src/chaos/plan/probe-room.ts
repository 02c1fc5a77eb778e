/** Which class of resources the drill's own work has, so that others can take it from an executor that is gone. Pure. */
import type { DrillLoad } from "../../spec/drill-definition.ts";
import type { ClusterRoles } from "./drilled-cluster.ts";

const classes = ["cpu", "io", "memory"] as const;

export interface ProbeRoom {
  readonly class: (typeof classes)[number];
  /** Attempts at once that are left when the largest of its executors is gone. */
  readonly left: number;
  /** Attempts at once that the load needs. */
  readonly needed: number;
  /** Slots of the class on each node that lives, in the order of the records. */
  readonly slots: readonly { readonly node: string; readonly count: number }[];
}

/** The class with the most room without its largest executor. */
export function probeRoom(
  executors: ClusterRoles["executors"],
  { jobs, shards, shardMs, everyMs }: DrillLoad,
): ProbeRoom {
  const living = executors.filter(({ state, expired }) => state === "active" && !expired);
  const needed = Math.ceil((jobs * shards * shardMs) / everyMs);
  const rooms = classes.map((name) => {
    const slots = living.map((one) => ({ node: one.node, count: one[name] }));
    const counts = slots.map(({ count }) => count);
    const left = counts.reduce((sum, one) => sum + one, 0) - Math.max(0, ...counts);
    return { class: name, left, needed, slots };
  });
  return rooms.reduce((best, one) => (one.left > best.left ? one : best));
}
