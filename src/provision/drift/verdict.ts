/** Whether a host is what it should be, now and in effect; unknown is never a yes. */
import type { HostPlan } from "../plan/host-plan.ts";

export interface Deviation {
  /** Resource, or `restart:UNIT`, or `transaction:ID`. */
  readonly id: string;
  readonly answer: "no" | "unknown";
  readonly because: string;
}

export interface HostVerdict {
  readonly host: string;
  readonly answer: "yes" | "no" | "unknown";
  /** How many resources are as they should be. */
  readonly right: number;
  readonly deviations: readonly Deviation[];
}

/** @param clock what is wrong with the host's clock, if anything is known to be */
export function verdictOf(plan: HostPlan, clock?: string): HostVerdict {
  const deviations: Deviation[] = plan.interrupted.map((id) => ({
    id: `transaction:${id}`,
    answer: "no",
    because: "was interrupted and is not yet put back",
  }));
  for (const { resource, judged } of plan.entries) {
    if (judged.state === "ok" && !judged.needsReboot) continue;
    const answer = judged.state === "unknown" ? "unknown" : "no";
    deviations.push({ id: resource.id, answer, because: judged.lines.join("; ") || "its content differs" });
  }
  for (const { unit, reason, pending } of plan.restarts)
    if (pending || reason.startsWith("the service is older"))
      deviations.push({ id: `restart:${unit}`, answer: "no", because: reason });
  if (clock !== undefined) deviations.push({ id: "clock", answer: "no", because: clock });
  const answer = deviations.some((one) => one.answer === "no")
    ? "no"
    : deviations.length > 0
      ? "unknown"
      : "yes";
  const right = plan.entries.filter(({ judged }) => judged.state === "ok" && !judged.needsReboot).length;
  return { host: plan.host, answer, right, deviations };
}
