/** The cluster as drills see it: hosts of the inventory with what their profiles make them, and its leases. */
import { isIP } from "node:net";
import { EscapementError } from "../../base/errors.ts";
import type { LeaseTimes } from "../../chaos/plan/drill-times.ts";
import type { ClusterHost, HostPart } from "../../chaos/plan/drilled-cluster.ts";
import type { ProfileSections, SectionName } from "../../spec/host-profile-schema.ts";
import type { HostTarget, InventoryDefinition } from "../../spec/inventory-definition.ts";
import { requireCluster } from "../cluster-file.ts";
import { type InventoryOptions, requireInventory } from "../inventory-file.ts";
import { failOnProblems } from "../problems.ts";

export interface ClusterOptions extends InventoryOptions {
  readonly profiles?: readonly string[];
  readonly cluster?: string;
}

export interface DrilledHosts {
  readonly inventory: InventoryDefinition;
  readonly hosts: readonly ClusterHost[];
  readonly leases: LeaseTimes;
  /** The address that the schedulers' hosts share; undefined: there is none. Only their own cluster files name it. */
  readonly virtualAddress: string | undefined;
  targetOf(host: string): HostTarget;
}

/** Sections of a profile, the part of the cluster each is, and the unit that it runs. */
const parts: readonly (readonly [section: SectionName, part: HostPart, unit: (value: unknown) => string])[] =
  [
    ["scheduler", "scheduler", () => "escapement-scheduler.service"],
    ["executor", "executor", () => "escapement-executor.service"],
    [
      "recordStore",
      "record-store",
      (value) => `postgresql@${(value as { major: number }).major}-main.service`,
    ],
    ["watchman", "watchman", () => "escapement-watchman.service"],
  ];

/** @throws E_SPEC_INVALID, E_BAD_DATA for an inventory without any host of a cluster */
export async function drilledHosts(options: ClusterOptions): Promise<DrilledHosts> {
  const inventory = await requireInventory(options);
  const { loadProfiles } = await import("../../provision/profile/load-profiles.ts");
  const { profiles, problems } = await loadProfiles(options.profiles ?? []);
  failOnProblems(problems);
  let cluster: ProfileSections["cluster"] | undefined;
  let virtualAddress: string | undefined;
  const hosts = inventory.hosts.flatMap((host): ClusterHost[] => {
    const sections = host.profile === undefined ? undefined : profiles.get(host.profile)?.sections;
    if (!sections) return [];
    cluster ??= sections.get("cluster")?.value as ProfileSections["cluster"] | undefined;
    if (sections.has("virtualIp")) virtualAddress ??= addressOf(host.settings.virtualIp);
    const own = host.settings.clusterAddress;
    const drills = sections.get("drills")?.value as ProfileSections["drills"] | undefined;
    const has = parts.filter(([section]) => sections.has(section));
    return [
      {
        name: host.name,
        addresses: [typeof own === "string" ? own : host.target.address],
        sshPort: host.target.port,
        parts: has.map(([, part]) => part),
        ...(drills?.faults && { faults: drills.faults }),
        units: Object.fromEntries(
          has.map(([section, part, unit]) => [part, unit(sections.get(section)!.value)]),
        ),
      },
    ];
  });
  if (hosts.every(({ parts: some }) => some.length === 0))
    throw new EscapementError("E_BAD_DATA", {
      what: `${inventory.file}: no host has a profile of a cluster`,
      hint: "drills need a scheduler, an executor and a record store; docs/profiles.md lists the profiles",
    });
  return {
    inventory,
    hosts,
    leases: await leasesOf(options.cluster, cluster),
    virtualAddress,
    targetOf: (name) => inventory.hosts.find((host) => host.name === name)!.target,
  };
}

/** Of `--host`, before the records are asked. @throws E_BAD_VALUE for a name that is no host of the cluster */
export function requireHosts({ hosts }: Pick<DrilledHosts, "hosts">, names: readonly string[]): void {
  const known = hosts.filter(({ parts: own }) => own.length > 0).map(({ name }) => name);
  for (const name of names)
    if (!known.includes(name))
      throw new EscapementError("E_BAD_VALUE", {
        option: "--host",
        value: name,
        expected: "a host of the inventory with a part of the cluster",
        hint: `there are: ${known.join(", ")}`,
      });
}

/** Of `10.0.0.100` or `10.0.0.100/24`. */
function addressOf(setting: unknown): string | undefined {
  const [address = ""] = String(setting ?? "").split("/", 1);
  return isIP(address) === 0 ? undefined : address;
}

/** The cluster file says it; without one the profiles do. */
async function leasesOf(
  file: string | undefined,
  section: ProfileSections["cluster"] | undefined,
): Promise<LeaseTimes> {
  const { leaseTimes } = await import("../../chaos/plan/drill-times.ts");
  if (file !== undefined) return leaseTimes(await requireCluster(file));
  const leaseMs = section?.lease ?? defaultLeaseMs;
  return leaseTimes({ executor: { leaseMs }, scheduler: { leaseMs, maxSleepMs: defaultMaxSleepMs } });
}

/** Of a cluster file that says nothing about them: src/spec/cluster-schema.ts. */
const defaultLeaseMs = 15_000;
const defaultMaxSleepMs = 1_000;
