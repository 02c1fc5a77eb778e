/**
 * Who reaches the record store over the network: every host of the inventory with
 * a profile, and the machines of people that the setting `storeClients` names.
 * The firewall and PostgreSQL's own list are both made from it, so that neither
 * lets in what the other does not. A password is asked for in any case.
 */
import { isIP } from "node:net";
import { type Fact, isKnown, known } from "../../../base/fact.ts";
import type { HostContext } from "../host-context.ts";

const setting = "storeClients";

/** Addresses, IPv4 or IPv6, hosts first; unknown where a host's is not known. What is no address lets nobody in. */
export function storeClients(context: HostContext): Fact<readonly string[]> {
  const hosts = context.addressesOf(context.hosts.map(({ host }) => host));
  if (!isKnown(hosts)) return hosts;
  const people = context.list(setting)?.value ?? [];
  return known([...new Set([...hosts.known, ...people.filter(isAddress)])]);
}

/** Notes an error for what is no address in the setting. */
export function checkStoreClients(context: HostContext): void {
  const odd = context.list(setting)?.value.find((one) => !isAddress(one));
  if (odd === undefined) return;
  context.note(
    "error",
    `${setting} has ${JSON.stringify(odd)} in it, which is not an address such as 10.0.0.5`,
    context.host.settingPlace(setting),
  );
}

/** Not with a zone (`fe80::1%eth0`): that is a card of one host, and neither nft nor PostgreSQL reads it. */
function isAddress(text: string): boolean {
  return isIP(text) !== 0 && !text.includes("%");
}
