/** How long a variant takes on a cluster: what the file leaves to the leases becomes milliseconds. Pure. */
import { formatDuration } from "../../base/duration.ts";
import type { ClusterDefinition } from "../../spec/cluster-definition.ts";
import type {
  DrillDefinition,
  DrillHold,
  DrillVariant,
  LeaseSpan,
  SettleRules,
} from "../../spec/drill-definition.ts";

/** What a cluster needs to notice that somebody is gone. */
export type LeaseTimes = Readonly<Record<LeaseSpan, number>>;

/** Others look for dead executors every 1 to 3 s: src/executor/reaper.ts. */
const reclaimMs = 3_000;
/** From the dead-man's limit on, the host itself may need this long: the order asks for at least hold + 5 s. */
const shortestMarginMs = 5_000;

/** What of a cluster the spans are made of. */
export interface ClusterLeases {
  readonly executor: Pick<ClusterDefinition["executor"], "leaseMs">;
  readonly scheduler: Pick<ClusterDefinition["scheduler"], "leaseMs" | "maxSleepMs">;
}

export function leaseTimes({ executor, scheduler }: ClusterLeases): LeaseTimes {
  return {
    "executor-lease-and-reclaim": executor.leaseMs + reclaimMs,
    "scheduler-lease-and-retry":
      scheduler.leaseMs + Math.min(scheduler.maxSleepMs, Math.ceil(scheduler.leaseMs / 4)),
  };
}

export interface DrillTimes {
  readonly holdMs: number;
  /** From the fault on: the host is put right by then, whatever happened. */
  readonly limitMs: number;
  /** From the restore to the first read that counts. */
  readonly settleMs: number;
  /** The least that the whole variant takes, from the fault to the verdict. */
  readonly expectedMs: number;
}

/**
 * A connection with a request on its way comes back about as long after a cut as
 * the cut lasted (30 s: after 54 s in all), so twice the hold is waited for.
 */
export function drillTimes(variant: DrillVariant, settle: SettleRules, leases: LeaseTimes): DrillTimes {
  const holdMs = wholeSeconds(holdOf(variant.hold, leases));
  const limitMs = wholeSeconds(holdMs + Math.max(variant.limitAfterHoldMs, shortestMarginMs));
  const settleMs = Math.max(
    settle.minimumMs,
    leases["executor-lease-and-reclaim"],
    leases["scheduler-lease-and-retry"],
    variant.fault.kind === "cut" ? 2 * holdMs : 0,
    aheadOfTheStoreMs(variant) + settle.minimumMs,
  );
  const expectedMs = holdMs + settleMs + (settle.quietReads - 1) * settle.readEveryMs;
  return { holdMs, limitMs, settleMs, expectedMs };
}

/**
 * Why the cluster could never be found at rest before the deadline; null when it can. After the settling time the
 * last attempts of the drill's own work end, and then so many reads must agree.
 */
export function settleShortfall(
  { settle, load }: Pick<DrillDefinition, "settle" | "load">,
  variant: DrillVariant,
  leases: LeaseTimes,
): string | null {
  const { settleMs } = drillTimes(variant, settle, leases);
  const neededMs = settleMs + load.shardMs + (settle.quietReads - 1) * settle.readEveryMs;
  if (neededMs < settle.deadlineMs) return null;
  return (
    `${variant.name} needs ${formatDuration(neededMs)} to come to rest: ${formatDuration(settleMs)} of settling, the last ` +
    `attempts, ${settle.quietReads} equal reads; settle.deadline is ${formatDuration(settle.deadlineMs)}, so it would always be unknown`
  );
}

/** Set back, the clock that decides goes over a span a second time: until it is through, nothing new comes due. */
function aheadOfTheStoreMs({ fault, target }: DrillVariant): number {
  if (fault.kind !== "clock" || target.role !== "record-store") return 0;
  return Math.max(0, fault.offsetSeconds) * 1_000;
}

function holdOf(hold: DrillHold, leases: LeaseTimes): number {
  return "ms" in hold ? hold.ms : Math.max(hold.atLeastMs, hold.times * leases[hold.of]);
}

/** An order to a host counts in seconds. */
function wholeSeconds(ms: number): number {
  return Math.ceil(ms / 1_000) * 1_000;
}
