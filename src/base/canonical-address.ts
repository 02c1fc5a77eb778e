/** One way to write an IP address, so that equal addresses are equal texts. */
import { isIPv6 } from "node:net";

/** @param address IPv4 or IPv6, perhaps with a zone (`%eth0`), which is left out; anything else stays as it is */
export function canonicalAddress(address: string): string {
  const bare = address.replace(/%.*$/, "");
  return isIPv6(bare) ? new URL(`http://[${bare}]/`).hostname.slice(1, -1) : bare;
}
