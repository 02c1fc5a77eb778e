/**
 * A profile, an inventory and the facts of one host become the list of what
 * that host shall have. The same file gives other numbers on another machine;
 * what cannot be computed is in the list as unknown, never as a guess.
 */
import { EscapementError } from "../../base/errors.ts";
import type { HostFacts } from "../../hardware/host-facts.ts";
import type { SectionName } from "../../spec/host-profile-schema.ts";
import type { InventoryDefinition } from "../../spec/inventory-definition.ts";
import type { Provenance, Resource } from "../resource.ts";
import { clock } from "./features/clock.ts";
import { clusterFile } from "./features/cluster.ts";
import { drills } from "./features/drills.ts";
import { executorFor } from "./features/executor.ts";
import type { Feature } from "./features/feature.ts";
import { firewallFor } from "./features/firewall.ts";
import { jobLogs } from "./features/job-logs.ts";
import { jobsSlice } from "./features/jobs-slice.ts";
import { journal } from "./features/journal.ts";
import { kernel } from "./features/kernel.ts";
import { recordStore } from "./features/record-store.ts";
import { scheduler } from "./features/scheduler.ts";
import { timeZone } from "./features/time-zone.ts";
import { toolkit } from "./features/toolkit.ts";
import { virtualIpFor } from "./features/virtual-ip.ts";
import { watchman } from "./features/watchman.ts";
import { HostContext, type Note } from "./host-context.ts";
import { lintCluster } from "./lint-cluster.ts";
import type { ProfileSet } from "./load-profiles.ts";
import type { ResolvedProfile, Section } from "./resolved-profile.ts";
import { userResource } from "./user-resources.ts";

export interface CompileInput {
  /** Name of the host in the inventory. */
  readonly host: string;
  readonly inventory: InventoryDefinition;
  readonly profiles: ProfileSet;
  readonly facts: HostFacts;
}

export interface CompiledProfile {
  readonly host: string;
  readonly profile: string;
  /** In an order in which each stands behind what it is `after`. */
  readonly resources: readonly Resource[];
  /** Of all resources, once each, sorted by key. */
  readonly provenance: readonly Provenance[];
  readonly notes: readonly Note[];
}

/** @throws E_HOST_NO_PROFILE where the inventory has no such host, or its profile cannot be used */
export function compileProfile({ host, inventory, profiles, facts }: CompileInput): CompiledProfile {
  const own = inventory.hosts.find(({ name }) => name === host);
  if (!own) throw noProfile(host, `${inventory.file} has no such host`);
  const profile = profileOf(own.profile, profiles);
  if (!profile)
    throw noProfile(
      host,
      own.profile === undefined
        ? "the inventory gives it no profile: it is only a way to other hosts"
        : `profile ${own.profile} is not there, or has problems`,
    );
  const hosts = inventory.hosts.flatMap((one) => {
    const its = profileOf(one.profile, profiles);
    return its ? [{ host: one, roles: new Set(its.sections.keys()) }] : [];
  });
  const context = new HostContext(
    own,
    new Set(profile.sections.keys()),
    hosts,
    facts,
    inventory.cluster ?? inventory.name,
  );
  lintCluster(context, inventory, profiles);
  const resources = [
    ...sectionResources(profile, context, inventory, profiles),
    ...profile.resources.map(userResource),
  ];
  const ordered = spreadUnavailable(inOrder(unique(resources, context)));
  return {
    host,
    profile: profile.name,
    resources: ordered,
    provenance: provenanceOf(ordered),
    notes: context.notes,
  };
}

function noProfile(host: string, reason: string): EscapementError {
  return new EscapementError("E_HOST_NO_PROFILE", { host, reason });
}

function profileOf(name: string | undefined, { profiles }: ProfileSet): ResolvedProfile | undefined {
  return name === undefined ? undefined : profiles.get(name);
}

type AnyFeature = Feature<SectionName>;

function sectionResources(
  profile: ResolvedProfile,
  context: HostContext,
  inventory: InventoryDefinition,
  profiles: ProfileSet,
): readonly Resource[] {
  const section = <S extends SectionName>(name: S) => profile.sections.get(name) as Section<S> | undefined;
  const features: Readonly<Partial<Record<SectionName, AnyFeature>>> = {
    toolkit: toolkit as AnyFeature,
    clock: clock as AnyFeature,
    timeZone: timeZone as AnyFeature,
    kernel: kernel as AnyFeature,
    journal: journal as AnyFeature,
    jobsSlice: jobsSlice as AnyFeature,
    recordStore: recordStore as AnyFeature,
    executor: executorFor(section("cluster")?.value.isolation) as AnyFeature,
    jobLogs: jobLogs as AnyFeature,
    scheduler: scheduler as AnyFeature,
    watchman: watchman as AnyFeature,
    drills: drills as AnyFeature,
    firewall: firewallFor((role) =>
      role === "recordStore" ? section(role)?.value.port : section(role)?.value.httpPort,
    ) as AnyFeature,
    virtualIp: virtualIpFor(section("scheduler")?.value.httpPort) as AnyFeature,
  };
  const resources: Resource[] = [];
  for (const [name, one] of profile.sections) resources.push(...(features[name]?.(one, context) ?? []));
  const cluster = section("cluster");
  if (cluster) {
    resources.push(
      ...clusterFile(cluster, context, {
        executor: section("executor"),
        jobLogs: section("jobLogs"),
        watchman: section("watchman"),
        httpPortOf(name, role) {
          const wanted = inventory.hosts.find((one) => one.name === name)?.profile;
          const of = profileOf(wanted, profiles)?.sections.get(role) as Section<"scheduler"> | undefined;
          return of?.value.httpPort;
        },
      }),
    );
  }
  return resources;
}

/** Of two resources with one id the later one holds: a profile's own list has the last word. */
function unique(resources: readonly Resource[], context: HostContext): readonly Resource[] {
  const byId = new Map<string, Resource>();
  for (const resource of resources) {
    const before = byId.get(resource.id);
    const isMadeAfterAll = before?.kind === "user" && before.mustExist;
    if (
      before &&
      !isMadeAfterAll &&
      JSON.stringify({ ...before, provenance: [] }) !== JSON.stringify({ ...resource, provenance: [] })
    )
      context.note("warning", `${resource.id} is described twice; the later description holds`);
    byId.set(resource.id, resource);
  }
  return [...byId.values()];
}

/** What others need comes first; else the order they were made in. A name nobody has is dropped from `after`. */
function inOrder(resources: readonly Resource[]): readonly Resource[] {
  const byId = new Map(resources.map((resource) => [resource.id, resource]));
  const done = new Set<string>();
  const ordered: Resource[] = [];
  const visit = (resource: Resource, above: readonly string[]) => {
    if (done.has(resource.id)) return;
    if (above.includes(resource.id))
      throw new EscapementError("E_BAD_DATA", {
        what: `resources wait for each other: ${[...above, resource.id].join(" → ")}`,
        hint: "take a line out of `after` in the profile",
      });
    const after = resource.after.filter((id) => byId.has(id));
    for (const id of after) visit(byId.get(id)!, [...above, resource.id]);
    done.add(resource.id);
    // What is as it was stays the one object that other hosts have, too.
    ordered.push(after.length === resource.after.length ? resource : { ...resource, after });
  };
  for (const resource of resources) visit(resource, []);
  return ordered;
}

/** What waits for something unknown is unknown itself. */
function spreadUnavailable(resources: readonly Resource[]): readonly Resource[] {
  const reasons = new Map<string, string>();
  return resources.map((resource) => {
    const blocked = resource.after.find((id) => reasons.has(id));
    const reason =
      resource.unavailable ??
      (blocked === undefined ? undefined : `waits for ${blocked}: ${reasons.get(blocked)}`);
    if (reason === undefined) return resource;
    reasons.set(resource.id, resource.unavailable ?? reasons.get(blocked!)!);
    return { ...resource, unavailable: reason };
  });
}

function provenanceOf(resources: readonly Resource[]): readonly Provenance[] {
  const byKey = new Map<string, Provenance>();
  for (const one of resources.flatMap(({ provenance }) => provenance)) byKey.set(one.key, one);
  return [...byKey.values()].sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
}
