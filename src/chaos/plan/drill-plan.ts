/** What a run would do, said before it is done: what it touches, for how long, how it comes back. Pure. */
import { formatDuration } from "../../base/duration.ts";
import type {
  DrillDefinition,
  DrillRole,
  DrillVariant,
  PassRules,
  ResolvedDrill,
} from "../../spec/drill-definition.ts";
import { clusterItems, type PreflightItem, replicationItem } from "./cluster-items.ts";
import { type DrillSwitches, endsFirst, inDoubt, switchItems } from "./drill-switches.ts";
import { type DrillTimes, drillTimes, type LeaseTimes } from "./drill-times.ts";
import type { ClusterHost, ClusterRoles, HostPart } from "./drilled-cluster.ts";
import { faultText, proofText, roleText, wayBackText } from "./fault-text.ts";
import { selectTarget, type TargetChoice } from "./select-target.ts";

export interface VariantPlan {
  readonly variant: string;
  /** The host it would be now; the run chooses again when its load is on. */
  readonly host: string | null;
  /** Others that could be chosen by then. */
  readonly also: readonly string[];
  /** Why there is no target; null when there is one, or when the records were not asked. */
  readonly refused: string | null;
  /** Of the hosts that it could be, those whose profile does not allow the fault: they refuse the order. */
  readonly notAllowedBy: readonly string[];
  readonly role: DrillRole;
  readonly fault: string;
  readonly wayBack: string;
  readonly times: DrillTimes;
  readonly proof: readonly string[];
  readonly pass: readonly string[];
}

export interface DrillPlan {
  readonly drill: string;
  readonly class: string;
  readonly digest: string;
  readonly description: string;
  readonly before: readonly string[];
  /** What a run does first: it ends one that was abandoned. Null: nothing, or the records were not asked. */
  readonly endsFirst: string | null;
  /** What the records say of it now; null when they were not asked. Hosts are asked by the run alone. */
  readonly conditions: readonly PreflightItem[] | null;
  readonly load: string;
  readonly abort: readonly string[];
  readonly variants: readonly VariantPlan[];
  /** The least that the whole run takes. */
  readonly expectedMs: number;
  /** No fault stays longer than this, each counted from its begin. */
  readonly longestFaultMs: number;
}

export interface PlanQuestion {
  readonly drill: ResolvedDrill;
  /** Only these; empty: all. */
  readonly variants: readonly string[];
  readonly leases: LeaseTimes;
  readonly hosts: readonly ClusterHost[];
  /** Undefined: the records were not asked, so nobody knows who leads. */
  readonly roles: ClusterRoles | undefined;
  /** Who follows the record store; null: the login may not see it; undefined: the records were not asked. */
  readonly replicas?: Parameters<typeof replicationItem>[1];
  /** What keeps every drill from beginning. */
  readonly switches?: DrillSwitches;
  /** Hosts of the command line. */
  readonly named: readonly string[];
}

export function planDrill(question: PlanQuestion): DrillPlan {
  const { drill, variants: wanted, leases, hosts, roles, switches, named } = question;
  const { definition, digest } = drill;
  const chosen = definition.variants.filter(({ name }) => wanted.length === 0 || wanted.includes(name));
  const variants = chosen.map((variant): VariantPlan => {
    const choice =
      roles &&
      selectTarget({ variant, blastRadius: definition.blastRadius, hosts, roles, named, loaded: false });
    return {
      variant: variant.name,
      host: choice && "target" in choice ? choice.target.host : null,
      also: choice && "target" in choice ? choice.also.map(({ host }) => host) : [],
      refused: choice && "refused" in choice ? choice.refused : null,
      notAllowedBy: notAllowedBy(variant, hosts, choice),
      role: variant.target.role,
      fault: faultText(variant.fault, variant.target.role),
      wayBack: wayBackText(variant.fault),
      times: drillTimes(variant, definition.settle, leases),
      proof: variant.proof.map(proofText),
      pass: passTexts(variant.pass),
    };
  });
  return {
    drill: definition.name,
    class: definition.class,
    digest,
    description: definition.description,
    before: beforeTexts(definition),
    endsFirst: endsFirst(switches),
    conditions: roles ? conditions(question, roles) : null,
    load: loadText(definition),
    abort: abortTexts(definition, chosen),
    variants,
    expectedMs: variants.reduce((sum, { times }) => sum + times.expectedMs, 0),
    longestFaultMs: Math.max(...variants.map(({ times }) => times.limitMs)),
  };
}

function conditions(
  { drill: { definition }, replicas, switches }: PlanQuestion,
  roles: ClusterRoles,
): PreflightItem[] {
  const ofCluster = clusterItems(definition, roles);
  if (replicas) ofCluster.push(replicationItem(definition, replicas));
  return [
    ...(endsFirst(switches) === null ? ofCluster : ofCluster.map(inDoubt)),
    // Who may not look will see no more when an abandoned run is ended.
    ...(replicas === null ? [replicationItem(definition, replicas)] : []),
    ...(switches ? switchItems(switches) : []),
  ];
}

const partOf: Readonly<Record<DrillRole, HostPart>> = {
  executor: "executor",
  "scheduler-leader": "scheduler",
  "scheduler-standby": "scheduler",
  "record-store": "record-store",
};

/** @param choice undefined: the records were not asked, so it could be any host with the part */
function notAllowedBy(
  { fault, target }: DrillVariant,
  hosts: readonly ClusterHost[],
  choice: TargetChoice | undefined,
): string[] {
  const chosen = choice && ("target" in choice ? [choice.target, ...choice.also] : []);
  const names = chosen?.map(({ host }) => host);
  return hosts
    .filter(({ name, parts }) => names?.includes(name) ?? parts.includes(partOf[target.role]))
    .filter(({ faults }) => faults !== undefined && !faults.includes(fault.kind))
    .map(({ name }) => name);
}

export function beforeTexts({ steadyState }: DrillDefinition): string[] {
  return [
    ...(steadyState.standbyHealthy ? ["a standby is ready to lead"] : []),
    `every clock is less than ${formatDuration(steadyState.offsetBelowMs)} off`,
    `fewer than ${steadyState.backlogBelow} shards wait`,
    ...(steadyState.noCriticalAlerts ? ["no critical alert is open"] : []),
    "no other drill is on, and drills are not halted",
  ];
}

export function loadText({ load }: DrillDefinition): string {
  const jobs = load.jobs === 1 ? "a job" : `${load.jobs} jobs`;
  return `${jobs} of its own, every ${formatDuration(load.everyMs)}, ${load.shards} shard(s) of ${formatDuration(load.shardMs)}; at least ${load.obligations} fires must come due during the fault`;
}

function abortTexts({ abort }: DrillDefinition, variants: readonly DrillVariant[]): string[] {
  const fills = variants.some(({ fault }) => fault.kind === "fill-disk");
  return [
    "somebody halts or aborts it",
    `more than ${abort.backlogOver} shards wait`,
    ...(abort.otherHostUnhealthy ? ["another host is not what it was"] : []),
    ...(fills
      ? []
      : [`less than ${Math.round(abort.freeBelowBytes / 1_048_576)} MiB are free on the target`]),
  ];
}

export function passTexts(pass: PassRules): string[] {
  const allowed = pass.allowedFailures;
  return [
    allowed.length === 0
      ? "every fire once: nothing lost, doubled, early, late or half done"
      : `no finding but ${allowed.join(", ")}`,
    ...(pass.refusedStaleWrites > 0
      ? [`at least ${pass.refusedStaleWrites} write(s) of the former holder refused`]
      : []),
    ...(pass.startWithinMs === undefined
      ? []
      : [
          `every fire starts within ${formatDuration(pass.startWithinMs)}, unless it is caught up as a misfire`,
        ]),
    ...(pass.takeoverWithinMs === undefined
      ? []
      : [`somebody else goes on within ${formatDuration(pass.takeoverWithinMs)}`]),
    ...(pass.restartedWithinMs === undefined
      ? []
      : [`its unit runs again within ${formatDuration(pass.restartedWithinMs)}`]),
    ...(pass.offsetBelowMs === undefined
      ? []
      : [`its clock is less than ${formatDuration(pass.offsetBelowMs)} off afterwards`]),
    ...(pass.culpritNamed ? ["comparing all clocks names this host and no other"] : []),
    "nothing of the drill is left on any host",
  ];
}

/**
 * A run would be refused now: there is no target, or the cluster is not as it must be. Where an abandoned run
 * has to be ended first, only what that does not change is sure.
 */
export function wouldBeRefused({ variants, conditions, endsFirst: first }: DrillPlan): boolean {
  const nowhere = first === null && variants.some(({ refused }) => refused !== null);
  return nowhere || (conditions ?? []).some(({ ok }) => ok === false);
}

/** Where a variant would strike, in words. */
export function whereText({ host, also, refused, role }: VariantPlan): string {
  if (refused !== null) return `nowhere: ${refused}`;
  if (host === null) return `${roleText(role)}; which host, the records say when it begins`;
  return also.length === 0
    ? `${host}, ${roleText(role)}`
    : `${host}, ${roleText(role)} (or ${also.join(", ")})`;
}
