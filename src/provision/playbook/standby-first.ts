/** The order of schedulers in which the one that leads comes last. */
import { readStatus } from "./cluster-status.ts";
import type { HostWorld } from "./host-world.ts";
import type { PlaybookHost } from "./registry.ts";

/** Where nobody can say who leads, as listed: requirements, not the order, keep the cluster safe. */
export async function standbyFirst(
  world: HostWorld,
  hosts: readonly PlaybookHost[],
): Promise<readonly PlaybookHost[]> {
  const leader = await readStatus(world).then(
    (status) => (status.leader.alive ? status.leader.node : null),
    () => null,
  );
  return [...hosts.filter((host) => host.name !== leader), ...hosts.filter((host) => host.name === leader)];
}
