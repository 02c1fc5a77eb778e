/** Which class of resources the drill's own work has, so that others can take it from an executor that is gone. Pure. */
import type { DrillLoad } from "../../spec/drill-definition.ts";
import type { SampledExecutor } from "../../store/drill/drill-sample.ts";

const classes = ["cpu", "io", "memory"] as const;

export interface ProbeRoom {
  readonly class: (typeof classes)[number];
  /** Attempts at once that are left when the largest of its executors is gone. */
  readonly left: number;
  /** Attempts at once that the load needs. */
  readonly needed: number;
}

/** The class with the most room without its largest executor. */
export function probeRoom(
  executors: readonly SampledExecutor[],
  { jobs, shards, shardMs, everyMs }: DrillLoad,
): ProbeRoom {
  const living = executors.filter(({ state, expired }) => state === "active" && !expired);
  const needed = Math.ceil((jobs * shards * shardMs) / everyMs);
  const rooms = classes.map((name) => {
    const slots = living.map((one) => one[name]);
    const left = slots.reduce((sum, one) => sum + one, 0) - Math.max(0, ...slots);
    return { class: name, left, needed };
  });
  return rooms.reduce((best, one) => (one.left > best.left ? one : best));
}
