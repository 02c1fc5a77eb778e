/**
 * Whether this host has the cluster's virtual address. keepalived has no quorum:
 * two hosts may have it at once, and then nobody but their own notes says so.
 */
import { networkInterfaces } from "node:os";
import { canonicalAddress } from "../base/canonical-address.ts";

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
  const wanted = canonicalAddress(virtualAddress);
  try {
    return Object.values(read()).some((all) =>
      all?.some(({ address }) => canonicalAddress(address) === wanted),
    );
  } catch {
    return null;
  }
}
