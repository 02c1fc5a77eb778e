/** Connections to all hosts of the inventory, as probes. A host that cannot be reached is a probe that throws. */
import { EscapementError, isEscapementError, messageOf } from "../../base/errors.ts";
import type { HostProbe, HostRole, Tier } from "../../checklist/context.ts";
import { loadProfiles } from "../../provision/profile/load-profiles.ts";
import type { Connect, Remote } from "../../remote/remote.ts";
import type { InventoryDefinition, InventoryHost } from "../../spec/inventory-definition.ts";
import { failOnProblems } from "../problems.ts";

export interface ConnectedHosts {
  readonly probes: readonly HostProbe[];
  readonly tier: Tier;
  /** Names of hosts that answered. */
  readonly reached: ReadonlySet<string>;
  close(): Promise<void>;
}

/** What does not answer by then is unreachable for this run, where an item has its usual time. */
const usualConnectMs = 12_000;
/** The time of an item for which the limits of single looks were chosen. */
const usualItemMs = 40_000;

const sections = [
  ["recordStore", "record-store"],
  ["scheduler", "scheduler"],
  ["executor", "executor"],
  ["watchman", "watchman"],
] as const satisfies readonly (readonly [string, HostRole])[];

/**
 * @param itemMs time of an item: with more of it, every look at a host may take as many times longer
 * @throws E_SPEC_INVALID for the site's own profiles
 */
export async function connectHosts(
  inventory: InventoryDefinition | undefined,
  profilePaths: readonly string[],
  connect: Connect,
  itemMs = usualItemMs,
): Promise<ConnectedHosts> {
  const patience = Math.max(1, itemMs / usualItemMs);
  const connectMs = usualConnectMs * patience;
  const all = inventory?.hosts ?? [];
  const jumps = new Set(all.flatMap(({ target }) => target.jump.map(({ host }) => host)));
  // One without a profile as well, unless it only leads to others: its crontab may start a job.
  const hosts = all.filter(({ name, profile }) => profile !== undefined || !jumps.has(name));
  const { profiles, problems } = await loadProfiles(profilePaths);
  failOnProblems(problems);
  const reached = new Set<string>();
  const remotes: Remote[] = [];
  let isClosed = false;
  const probes = await Promise.all(
    hosts.map(async (host): Promise<HostProbe> => {
      const named = host.profile === undefined ? undefined : profiles.get(host.profile)?.sections;
      const roles = sections.filter(([section]) => named?.has(section)).map(([, role]) => role);
      try {
        const connectTimeoutMs = Math.min(host.target.connectTimeoutMs * patience, connectMs);
        const connecting = connect({ ...host.target, connectTimeoutMs });
        connecting.then(
          (late) => {
            if (isClosed) late.close().catch(() => {});
          },
          () => {},
        );
        const remote = await within(connectMs, connecting, host);
        remotes.push(remote);
        const container = await containerOf(remote, connectMs);
        reached.add(host.name);
        return {
          ...base(host, roles),
          ...(container !== undefined && { container }),
          exec: execOn(remote, patience),
        };
      } catch (error) {
        return {
          ...base(host, roles),
          exec: async () => {
            throw isEscapementError(error)
              ? error
              : new EscapementError("E_HOST_UNREACHABLE", {
                  host: host.name,
                  reason: messageOf(error),
                  address: host.target.address,
                });
          },
        };
      }
    }),
  );
  return {
    probes,
    tier: probes.some(({ container }) => container !== undefined) ? "hosts" : "machines",
    reached,
    close: async () => {
      isClosed = true;
      await Promise.all(remotes.map((remote) => remote.close().catch(() => {})));
    },
  };
}

function base({ name, failureDomain }: InventoryHost, roles: readonly HostRole[]) {
  return { name, roles, failureDomain };
}

function execOn(remote: Remote, patience: number): HostProbe["exec"] {
  return (argv, { deadlineMs, ...how }) =>
    remote.exec({ argv, ...how, deadlineMs: deadlineMs * patience, asRoot: true });
}

/** Asked of the host itself: an inventory may call anything a machine. */
async function containerOf(remote: Remote, deadlineMs: number): Promise<string | undefined> {
  const { stdout } = await remote.exec({
    argv: ["systemd-detect-virt", "--container"],
    deadlineMs,
    maxOutputBytes: 4_096,
  });
  const found = stdout.trim();
  return found === "" || found === "none" ? undefined : found;
}

async function within<T>(ms: number, work: Promise<T>, host: InventoryHost): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const error = new EscapementError("E_HOST_UNREACHABLE", {
      host: host.name,
      reason: `no connection within ${ms / 1_000} s`,
      address: host.target.address,
    });
    timer = setTimeout(() => reject(error), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
