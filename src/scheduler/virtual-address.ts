/**
 * Whether this host has the cluster's virtual address. keepalived has no quorum:
 * two hosts may have it at once, and then nobody but their own notes says so.
 */
import { isIPv6 } from "node:net";
import { networkInterfaces } from "node:os";

type Interfaces = ReturnType<typeof networkInterfaces>;

/**
 * @param read every address of every interface that is up, added ones too
 * @returns null where the cluster has no such address, or the host's own could not be read
 */
export function holdsAddress(
  virtualAddress: string | undefined,
  read: () => Interfaces = networkInterfaces,
): boolean | null {
  if (virtualAddress === undefined) return null;
  const wanted = canonical(virtualAddress);
  try {
    return Object.values(read()).some((all) => all?.some(({ address }) => canonical(address) === wanted));
  } catch {
    return null;
  }
}

/** One IPv6 address can be written in many ways. */
function canonical(address: string): string {
  const bare = address.replace(/%.*$/, "");
  return isIPv6(bare) ? new URL(`http://[${bare}]/`).hostname : bare;
}
