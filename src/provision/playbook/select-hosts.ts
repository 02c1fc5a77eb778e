/** Which hosts a step is about, and in which groups it goes through them. */
import type { PlaybookStep } from "../../spec/playbook-schema.ts";
import type { PlaybookHost } from "./registry.ts";

/** In the order of the inventory. */
export function selectHosts(
  selector: PlaybookStep["hosts"],
  hosts: readonly PlaybookHost[],
  targets: readonly PlaybookHost[],
): readonly PlaybookHost[] {
  const isTarget = (host: PlaybookHost) => targets.some((target) => target.name === host.name);
  const { role, pick } = selector;
  const ofRole = role === "any" ? hosts : hosts.filter((host) => host.roles.includes(role));
  switch (pick) {
    case "all":
      return ofRole;
    case "first":
      return ofRole.slice(0, 1);
    case "target":
      return ofRole.filter(isTarget);
    case "others":
      return ofRole.filter((host) => !isTarget(host));
  }
}

/** The targets that no step is about: nothing would happen to them, and that would look like success. */
export function idleTargets(
  steps: readonly PlaybookStep[],
  targets: readonly PlaybookHost[],
): readonly PlaybookHost[] {
  const aboutTargets = steps.filter(({ hosts }) => hosts.pick === "target");
  return targets.filter((target) =>
    aboutTargets.every(({ hosts }) => selectHosts(hosts, [target], [target]).length === 0),
  );
}

/** Hosts of one group are done at the same time; groups one after the other. */
export function groupHosts(
  rolling: PlaybookStep["rolling"],
  hosts: readonly PlaybookHost[],
): readonly (readonly PlaybookHost[])[] {
  if (hosts.length === 0) return [];
  switch (rolling) {
    case "together":
      return [hosts];
    case "one-by-one":
      return hosts.map((host) => [host]);
    case "by-domain": {
      const domains = new Map<string, PlaybookHost[]>();
      for (const host of hosts) {
        const domain = domains.get(host.failureDomain);
        if (domain) domain.push(host);
        else domains.set(host.failureDomain, [host]);
      }
      return [...domains.values()];
    }
  }
}
