/** What would change on one host: pure, from the resources and what the host said. */
import { EscapementError } from "../../base/errors.ts";
import { digest } from "../../spec/digest.ts";
import { isUnknown, type Reading } from "../bundle/reading.ts";
import type { Resource, Restart } from "../resource.ts";
import { beyondHost } from "./beyond-host.ts";
import { judge } from "./judge.ts";
import type { Judged } from "./judged.ts";
import { isActive } from "./kinds/unit.ts";
import type { DueRestart, Step } from "./step.ts";

export interface PlannedResource {
  readonly resource: Resource;
  readonly judged: Judged;
}

export interface HostPlan {
  readonly host: string;
  readonly entries: readonly PlannedResource[];
  readonly restarts: readonly DueRestart[];
  /** What keeps the host from being planned as a whole: an interrupted transaction. */
  readonly interrupted: readonly string[];
  /** Of the resources as they should be. */
  readonly digest: string;
  readonly reading: Reading;
}

/** Wall clock steps and the granularity of timestamps: a service this much older than its file is not older. */
const ageToleranceS = 2;

/** @throws E_BAD_DATA where two resources have one id, or wait for each other */
export function planHost(host: string, resources: readonly Resource[], reading: Reading): HostPlan {
  const ordered = inOrder(resources);
  const installs = new Set(
    ordered.flatMap((one) =>
      one.kind === "package" &&
      one.unavailable === undefined &&
      one.state === "installed" &&
      judge(one, bare(reading), reading.paths).steps.length > 0
        ? [one.id]
        : [],
    ),
  );
  const byId = new Map(ordered.map((one) => [one.id, one]));
  const context = {
    reading,
    drafts: new Map<string, string>(),
    installing: (resource: Resource) => firstInstall(resource, byId, installs),
    bringsUnit: (unit: string) =>
      ordered.some((one) => one.kind === "file" && !one.absent && one.path.endsWith(`/${unit}`)),
  };
  const entries = ordered.map((resource) => ({ resource, judged: judge(resource, context, reading.paths) }));
  const restarts = dueRestarts(entries, reading);
  reading.rest();
  return {
    host,
    entries,
    restarts,
    interrupted: reading.transactions
      .filter(({ state }) => state === "open" || state === "applied")
      .map(({ id }) => id),
    digest: digest(resources.map(digestOf)),
    reading,
  };
}

/** Resources that are the same for many hosts are one object. */
const digests = new WeakMap<Resource, string>();

function digestOf(resource: Resource): string {
  const known = digests.get(resource) ?? digest(resource);
  digests.set(resource, known);
  return known;
}

/** Every step, in the order of the resources; of several texts for one file the last counts. */
export function stepsOf(plan: HostPlan): Step[] {
  const steps = plan.entries.flatMap(({ judged }) => judged.steps);
  return steps.filter(
    (step, i) =>
      !(
        step.do === "place" &&
        steps.slice(i + 1).some((later) => later.do === "place" && later.path === step.path)
      ),
  );
}

export function changesOf(plan: HostPlan): readonly PlannedResource[] {
  return plan.entries.filter(({ judged }) => judged.steps.length > 0);
}

/** A resource and why it is as it is, in one sentence for people. */
export function sentenceOf({ resource, judged }: PlannedResource): string {
  return `${resource.id}: ${judged.lines.join("; ")}`;
}

/** What is wrong and not for apply to put right. */
export function leftToOthers(plan: HostPlan): readonly PlannedResource[] {
  return plan.entries.filter(({ judged }) => judged.state === "missing" && judged.steps.length === 0);
}

export function unknownsOf(plan: HostPlan): readonly PlannedResource[] {
  return plan.entries.filter(({ judged }) => judged.state === "unknown");
}

/** Unknown, though a host of this kind could tell: somebody has something to mend. */
export function openUnknownsOf(plan: HostPlan): readonly PlannedResource[] {
  return unknownsOf(plan).filter(({ resource }) => !isBeyondHost(resource));
}

/** Unknown because a host of this kind can never have it. */
export function beyondHostOf(plan: HostPlan): readonly PlannedResource[] {
  return unknownsOf(plan).filter(({ resource }) => isBeyondHost(resource));
}

function isBeyondHost({ unavailable }: Resource): boolean {
  return unavailable !== undefined && beyondHost(unavailable) !== undefined;
}

/** Whether apply would do anything. */
export function hasChanges(plan: HostPlan): boolean {
  return changesOf(plan).length > 0 || plan.restarts.length > 0 || plan.interrupted.length > 0;
}

function bare(reading: Reading) {
  return { reading, drafts: new Map<string, string>(), installing: () => undefined, bringsUnit: () => false };
}

function firstInstall(
  resource: Resource,
  byId: ReadonlyMap<string, Resource>,
  installs: ReadonlySet<string>,
  seen = new Set<string>(),
): string | undefined {
  for (const id of resource.after) {
    if (seen.has(id)) continue;
    seen.add(id);
    const before = byId.get(id);
    if (!before) continue;
    if (installs.has(id)) return before.kind === "package" ? before.name : id;
    const found = firstInstall(before, byId, installs, seen);
    if (found) return found;
  }
  return undefined;
}

/** Resources after those they wait for; otherwise in the order given. */
function inOrder(resources: readonly Resource[]): Resource[] {
  const byId = new Map<string, Resource>();
  for (const resource of resources) {
    if (byId.has(resource.id)) bad(`two resources have the id ${resource.id}`);
    byId.set(resource.id, resource);
  }
  const done = new Set<string>();
  const ordered: Resource[] = [];
  const visit = (resource: Resource, way: readonly string[]): void => {
    if (done.has(resource.id)) return;
    if (way.includes(resource.id)) bad(`resources wait for each other: ${[...way, resource.id].join(" → ")}`);
    for (const id of resource.after) {
      const before = byId.get(id);
      if (before) visit(before, [...way, resource.id]);
    }
    done.add(resource.id);
    ordered.push(resource);
  };
  for (const resource of resources) visit(resource, []);
  return ordered;
}

function bad(what: string): never {
  throw new EscapementError("E_BAD_DATA", {
    what,
    hint: "ids are unique on a host, and after leads nowhere twice",
  });
}

function dueRestarts(entries: readonly PlannedResource[], reading: Reading): DueRestart[] {
  const due = new Map<string, DueRestart>();
  const add = (restart: Restart, reason: string, pending: boolean) => {
    const before = due.get(restart.unit);
    // A restart does whatever a reload would.
    if (before && (before.action !== "reload" || restart.action === "reload")) return;
    due.set(restart.unit, { ...restart, reason, pending: pending || before?.pending === true });
  };
  const known = new Map(
    entries.flatMap(({ resource }) => resource.restarts.map((one) => [one.unit, one] as const)),
  );
  for (const { unit, action, reason } of reading.pending) {
    const unless =
      known.get(unit)?.unless ?? (reason.includes("active scheduler") ? "active-scheduler" : undefined);
    const restart: Restart = { unit, action: asAction(action), ...(unless && { unless }) };
    add(restart, `restart pending: ${reason}`, true);
  }
  for (const { resource, judged } of entries)
    for (const restart of resource.restarts) {
      if (judged.steps.length > 0) add(restart, `${resource.id} changes`, false);
      else if (judged.state === "ok" && isOlder(resource, restart, reading))
        add(restart, `the service is older than ${resource.id}`, false);
    }
  return [...due.values()];
}

function asAction(action: string): Restart["action"] {
  return action === "reload" || action === "try-restart" ? action : "restart";
}

/** True where a running service has not been started since its file changed. */
function isOlder(resource: Resource, restart: Restart, reading: Reading): boolean {
  if (restart.action === "reload" || resource.kind !== "file" || resource.absent) return false;
  const unit = reading.unit(restart.unit);
  const file = reading.path(resource.path);
  if (isUnknown(unit) || !isActive(unit) || file === "absent" || isUnknown(file)) return false;
  if (reading.bootedAt === undefined || unit.activeSince === 0) return false;
  return file.modifiedAt > reading.bootedAt + unit.activeSince + ageToleranceS;
}
