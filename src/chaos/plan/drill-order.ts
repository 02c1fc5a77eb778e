/** From a variant and its target to the order that the host is given, but for the run and the boot. Pure. */
import type { DrillVariant } from "../../spec/drill-definition.ts";
import type { DrillOrder } from "../host/drill-host.ts";
import type { DrillTimes } from "./drill-times.ts";
import type { ClusterHost } from "./drilled-cluster.ts";
import type { DrillTargetHost } from "./select-target.ts";

export type OrderDraft = Omit<DrillOrder, "run" | "bootId">;

/** @param hosts of the cluster: their addresses may have to stay reachable */
export function draftOrder(
  variant: DrillVariant,
  target: DrillTargetHost,
  times: DrillTimes,
  hosts: readonly ClusterHost[],
): OrderDraft {
  const common = {
    host: target.host,
    holdSeconds: Math.ceil(times.holdMs / 1_000),
    limitSeconds: Math.ceil(times.limitMs / 1_000),
  };
  const { fault } = variant;
  switch (fault.kind) {
    case "kill":
    case "stop":
      return { ...common, fault: fault.kind, unit: target.unit, keepDown: fault.restart === "suppressed" };
    case "pause":
      return { ...common, fault: "pause", unit: target.unit };
    case "memory-limit":
      return { ...common, fault: "memory-limit", unit: target.unit, limitBytes: fault.limitBytes };
    case "clock":
      return { ...common, fault: "clock", offsetSeconds: fault.offsetSeconds };
    case "power":
      return { ...common, fault: "power", unit: target.unit };
    case "fill-disk":
      return { ...common, fault: "fill-disk", path: fault.path, reserveBytes: fault.reserveBytes };
    case "cut":
      return {
        ...common,
        fault: "cut",
        direction: fault.direction,
        keep: hosts
          .filter(
            ({ name, parts }) => name !== target.host && fault.keep.some((part) => parts.includes(part)),
          )
          .flatMap(({ addresses }) => addresses),
      };
  }
}
