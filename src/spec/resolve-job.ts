/** One job document and its policy set become one definition, or problems. */
import { formatDuration } from "../base/duration.ts";
import { closest } from "./closest.ts";
import type { ClusterDefinition } from "./cluster-definition.ts";
import type { ResolvedJob, ValidateSchedule } from "./definitions.ts";
import { digest } from "./digest.ts";
import type { JobDefinition, Misfire, Schedule, Shards } from "./job-definition.ts";
import type { JobDocument, PolicySetDocument } from "./job-schema.ts";
import type { LoadedDocument } from "./load.ts";
import { type Policies, policyShape } from "./policy-schema.ts";
import type { Path, Problem } from "./problem.ts";
import { type RequiredPolicy, requiredPolicies, requiredWithClockChanges } from "./required-policies.ts";
import { nextOffsetChange } from "./time-zone.ts";

export interface JobContext {
  /** By name; a set with problems of its own is there without a value. */
  readonly policySets: ReadonlyMap<string, LoadedDocument<"PolicySet">>;
  readonly validateSchedule: ValidateSchedule | undefined;
  readonly cluster: ClusterDefinition | undefined;
  /** Changes of the clocks before this instant do not matter. */
  readonly now: Date;
}

/** Policies after the check that none of the required ones is missing. */
type CompletePolicies = Policies & {
  readonly [F in
    | "timeZone"
    | "misfire"
    | "blocking"
    | "catchUp"
    | "retry"
    | "lease"
    | "timeout"
    | "resources"]: NonNullable<Policies[F]>;
};

type Document = LoadedDocument<"Job"> & { readonly value: JobDocument };

/** @returns the job, or what is wrong; neither when its policy set has problems, which are reported there. */
export function resolveJob(
  document: Document,
  context: JobContext,
): { job?: ResolvedJob; problems: Problem[] } {
  const { spec } = document.value;
  let set: PolicySetDocument | undefined;
  if (spec.policySet !== undefined) {
    const found = context.policySets.get(spec.policySet);
    if (!found) return { problems: [unknownPolicySet(document, spec.policySet, context)] };
    if (!found.value) return { problems: [] };
    set = found.value;
  }
  const policies = merge(spec, set?.spec);
  const problems = missingPolicies(document, policies, set?.metadata.name, context.now);
  if (problems.length > 0) return { problems };
  const definition = define(document.value, policies as CompletePolicies, set?.spec.docs);
  problems.push(...checkTogether(document, definition, context));
  if (problems.length > 0) return { problems };
  const { file, line, column } = document;
  return { job: { definition, digest: digest(definition), file, line, column }, problems };
}

/** A field of the job wins as a whole; nothing is mixed within a field. */
function merge(job: Policies, set: Policies | undefined): Policies {
  const merged: Record<string, unknown> = {};
  for (const field of Object.keys(policyShape) as (keyof Policies)[]) {
    const value = job[field] ?? set?.[field];
    if (value !== undefined) merged[field] = value;
  }
  return merged as Policies;
}

function missingPolicies(
  document: Document,
  policies: Policies,
  set: string | undefined,
  now: Date,
): Problem[] {
  const where = set === undefined ? "and the job names no policy set" : `in the job and in policy set ${set}`;
  const problem = ({ field, choices, reason }: RequiredPolicy, why = reason): Problem => ({
    ...document.positionOf(["spec"], "key"),
    path: `spec.${field}`,
    message: `is missing ${where}; it has no default, because ${why}`,
    choices,
  });
  const problems = requiredPolicies
    .filter(({ field }) => policies[field] === undefined)
    .map((field) => problem(field));
  if (policies.timeZone === undefined || document.value.spec.schedule.cron === undefined) return problems;
  const wanted = requiredWithClockChanges.filter(({ field }) => policies[field] === undefined);
  const change = wanted.length > 0 ? nextOffsetChange(policies.timeZone, now) : null;
  if (change) {
    const until = `the clocks of ${policies.timeZone} change by ${change.toISOString().slice(0, 10)}`;
    problems.push(...wanted.map((policy) => problem(policy, `${until} and ${policy.reason}`)));
  }
  return problems;
}

function define(
  document: JobDocument,
  policies: CompletePolicies,
  docsOfSet: string | undefined,
): JobDefinition {
  const { metadata, spec } = document;
  const docs = spec.docs ?? docsOfSet;
  return {
    namespace: metadata.namespace,
    name: metadata.name,
    ...(metadata.ancestor !== undefined && { ancestor: metadata.ancestor }),
    ...(spec.description !== undefined && { description: spec.description }),
    ...(docs !== undefined && { docs }),
    command: spec.command,
    ...(spec.workingDirectory !== undefined && { workingDirectory: spec.workingDirectory }),
    ...(spec.runAs !== undefined && { runAs: spec.runAs }),
    environment: spec.environment,
    schedule: scheduleOf(spec.schedule),
    timeZone: policies.timeZone,
    ...(policies.dstGap !== undefined && { dstGap: policies.dstGap }),
    ...(policies.dstOverlap !== undefined && { dstOverlap: policies.dstOverlap }),
    ...(spec.period !== undefined && { period: spec.period }),
    misfire: misfireOf(policies.misfire),
    blocking: policies.blocking,
    catchUp: policies.catchUp,
    retry: { maxAttempts: policies.retry.maxAttempts, delaysMs: policies.retry.delays },
    leaseMs: policies.lease,
    timeoutMs: policies.timeout,
    shards: spec.shards satisfies Shards,
    resources: { class: policies.resources.class, peakMemoryBytes: policies.resources.peakMemory },
    effects: spec.effects,
    onStoreLoss: policies.onStoreLoss ?? "kill",
  };
}

function scheduleOf({ cron, every }: JobDocument["spec"]["schedule"]): Schedule {
  if (cron !== undefined) return { kind: "cron", cron };
  return every === undefined ? { kind: "manual" } : { kind: "every", everyMs: every };
}

function misfireOf(misfire: NonNullable<Policies["misfire"]>): Misfire {
  return misfire.policy === "within-window"
    ? { policy: misfire.policy, thresholdMs: misfire.threshold, windowMs: misfire.window }
    : { policy: misfire.policy, thresholdMs: misfire.threshold };
}

/** What can only be judged with the whole definition, or with the cluster. */
function checkTogether(document: Document, job: JobDefinition, context: JobContext): Problem[] {
  const problems: Problem[] = [];
  const complain = (path: Path, message: string, value?: string) =>
    problems.push({
      ...document.positionOf(path),
      path: path.join("."),
      message,
      ...(value !== undefined && { value }),
    });
  if (job.ancestor === job.name) complain(["metadata", "ancestor"], "must not be the job itself");
  const reason = job.schedule.kind === "manual" ? null : (context.validateSchedule?.(job) ?? null);
  if (reason !== null) {
    const written = document.value.spec.schedule.cron;
    complain(
      ["spec", "schedule", job.schedule.kind],
      reason,
      written === undefined ? undefined : JSON.stringify(written),
    );
  }
  const { cluster } = context;
  if (cluster && job.leaseMs < cluster.executor.leaseMs) {
    const needed = formatDuration(cluster.executor.leaseMs);
    const why = `a shard is held as long as its executor's lease, which is ${needed} in cluster ${cluster.name}`;
    complain(["spec", "lease"], `must be at least ${needed}: ${why}`, formatDuration(job.leaseMs));
  }
  if (cluster && !cluster.executor.nodes.some(({ slots }) => slots[job.resources.class] > 0)) {
    const message = `no executor of cluster ${cluster.name} has a slot of class ${job.resources.class}`;
    complain(["spec", "resources", "class"], message);
  }
  if (cluster && job.runAs !== undefined && cluster.executor.isolation === "none") {
    const message = `needs executor.isolation: scope, which cluster ${cluster.name} does not have`;
    complain(["spec", "runAs"], message, job.runAs);
  }
  return problems;
}

function unknownPolicySet(document: Document, name: string, { policySets }: JobContext): Problem {
  const choices = [...policySets.keys()];
  const suggestion = closest(name, choices);
  return {
    ...document.positionOf(["spec", "policySet"]),
    path: "spec.policySet",
    message:
      choices.length > 0
        ? "is not a policy set in these files"
        : "is named, but there is no policy set in these files",
    value: JSON.stringify(name),
    ...(choices.length > 0 && { choices }),
    ...(suggestion !== undefined && { suggestion }),
  };
}
