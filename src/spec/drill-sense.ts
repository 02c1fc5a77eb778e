/** What of a drill can make sense together: what a class stands for, and who can see what of a fault. Pure. */
import { formatDuration } from "../base/duration.ts";
import {
  type DrillClass,
  type DrillFault,
  type DrillLoad,
  type DrillProof,
  type DrillRole,
  type DrillVariant,
  mandatoryDrillClasses,
  type ProofKind,
  type ProofObserver,
  type SteadyState,
} from "./drill-definition.ts";

/** The faults of each class, and whom they strike; a pass of the class is one of exactly this. */
const classes: Readonly<
  Record<
    DrillClass,
    { readonly faults: readonly DrillFault["kind"][]; readonly roles?: readonly DrillRole[] }
  >
> = {
  "executor-killed": { faults: ["kill", "power"], roles: ["executor"] },
  "network-cut": { faults: ["cut"] },
  "clock-skewed": { faults: ["clock"] },
  "primary-stopped": { faults: ["stop", "kill", "cut", "power"], roles: ["scheduler-leader"] },
  "executor-paused": { faults: ["pause"], roles: ["executor"] },
  "primary-paused": { faults: ["pause"], roles: ["scheduler-leader"] },
  "store-killed": { faults: ["kill", "stop", "power"], roles: ["record-store"] },
  "disk-full": { faults: ["fill-disk"] },
  "memory-limited": { faults: ["memory-limit"] },
};

/** What others show when a part of the cluster is away. */
const taken = ["lease-ended", "leader-moved", "address-moved", "store-gone"] as const;

/** What can be seen of a fault at all; anything else in `proof` would never come. */
const seenOf: Readonly<Record<DrillFault["kind"], readonly ProofKind[]>> = {
  kill: ["process-gone", "unit-down", ...taken],
  stop: ["process-gone", "unit-down", ...taken],
  pause: ["process-stopped", "unreachable", ...taken],
  cut: ["packets-dropped", "unreachable", ...taken],
  clock: ["clock-offset", "leader-moved"],
  power: ["rebooted", "process-gone", "unreachable", ...taken],
  "fill-disk": ["disk-full"],
  "memory-limit": ["memory-limited", "process-gone", "lease-ended", "leader-moved"],
};

/** Who looks for it; nobody else would ever say it. */
const seenBy: Readonly<Record<ProofKind, readonly ProofObserver[]>> = {
  "process-gone": ["target", "controller", "records"],
  "process-stopped": ["target", "controller"],
  "unit-down": ["target", "controller"],
  "packets-dropped": ["target"],
  unreachable: ["another-host", "records"],
  "clock-offset": ["target", "controller", "another-host", "records"],
  rebooted: ["target", "controller"],
  "disk-full": ["target", "controller"],
  "memory-limited": ["target", "controller"],
  "lease-ended": ["records"],
  "leader-moved": ["records"],
  "address-moved": ["another-host"],
  "store-gone": ["controller"],
};

/** What only a target of some role can show, whoever sees it or one of them. */
const shownBy: Partial<Record<ProofKind | `${ProofKind} from ${ProofObserver}`, readonly DrillRole[]>> = {
  "unreachable from records": ["executor"],
  "lease-ended": ["executor", "scheduler-leader"],
  "leader-moved": ["scheduler-leader"],
  "address-moved": ["scheduler-leader"],
  "store-gone": ["record-store"],
};

/** Why the class does not say what the variant does; null when it does. */
export function classProblem(stands: DrillClass, { fault, target }: DrillVariant): string | null {
  const { faults, roles } = classes[stands];
  if (!faults.includes(fault.kind))
    return `is ${stands}, which is a fault of kind ${faults.join(" or ")}; this one is ${fault.kind}`;
  if (roles && !roles.includes(target.role))
    return `is ${stands}, whose target is ${roles.join(" or ")}; this one is ${target.role}`;
  return null;
}

/** Why this could never be seen; null when it can. */
export function proofProblem({ see, from }: DrillProof, { fault, target }: DrillVariant): string | null {
  if (!seenOf[fault.kind].includes(see))
    return `asks for ${see}, which a fault of kind ${fault.kind} never shows`;
  if (!seenBy[see].includes(from))
    return `asks for ${see} from ${from}, where nobody sees it; ${seenBy[see].join(", ")} can`;
  // A process that stands still leaves its host as it is; one that is off says when it went off only when it is back.
  if (see === "unreachable" && from === "another-host" && fault.kind !== "cut")
    return `asks for ${see} from ${from}, who sees it of a fault of kind cut alone; this one is ${fault.kind}`;
  const roles = shownBy[see] ?? shownBy[`${see} from ${from}`];
  if (roles && !roles.includes(target.role))
    return `asks for ${see}, which only ${roles.join(" or ")} shows; the target is ${target.role}`;
  return null;
}

/**
 * Why a pass of a counted class would say too little; null when it says enough. Less than the defaults of
 * `load` has one kind of effect alone, or too few fires to hit anything.
 */
export function slackProblem(
  stands: DrillClass,
  { steadyState, load }: SlackQuestion,
): readonly ["steadyState" | "load", string] | null {
  if (!isCounted(stands)) return null;
  const counts = `the checklist counts a pass of ${stands}`;
  if (!steadyState.standbyHealthy || !steadyState.noCriticalAlerts)
    return ["steadyState", `does not ask for a standby and no critical alert, and ${counts}`];
  if (load.jobs < leastJobs || load.obligations < leastObligations)
    return ["load", `is less than ${leastJobs} jobs and ${leastObligations} obligations, and ${counts}`];
  return null;
}

interface SlackQuestion {
  readonly steadyState: Pick<SteadyState, "standbyHealthy" | "noCriticalAlerts">;
  readonly load: Pick<DrillLoad, "jobs" | "obligations">;
}

/** One that adds up and one that replaces. */
const leastJobs = 2;
const leastObligations = 5;

/** True where the checklist counts a pass of the class: such a pass may not overlook anything. */
export function isCounted(stands: DrillClass): boolean {
  return mandatoryDrillClasses.some((name) => name === stands);
}

/** True where a pass says that somebody else went on: without a limit nobody would have looked whether anyone did. */
export function asksForTakeover(stands: DrillClass): boolean {
  return stands === "executor-killed" || stands === "primary-stopped";
}

/** Why the cluster could never be found at rest in time; null when it can. */
export function settleProblem({ minimum, quietReads, readEvery, deadline }: SettleQuestion): string | null {
  if (minimum + (quietReads - 1) * readEvery < deadline) return null;
  return `ends at deadline (${formatDuration(deadline)}) before ${quietReads} reads ${formatDuration(readEvery)} apart can follow minimum (${formatDuration(minimum)}): always unknown`;
}

/** All but the count in milliseconds. */
interface SettleQuestion {
  readonly minimum: number;
  readonly quietReads: number;
  readonly readEvery: number;
  readonly deadline: number;
}
