/** What only the inventory and all profiles together can show. */
import type { InventoryDefinition } from "../../spec/inventory-definition.ts";
import type { HostContext } from "./host-context.ts";
import type { ProfileSet } from "./load-profiles.ts";

/** Notes about the cluster, told for each host they concern. */
export function lintCluster(
  context: HostContext,
  inventory: InventoryDefinition,
  profiles: ProfileSet,
): void {
  const { host, roles } = context;
  const schedulers = context.hostsWith("scheduler");
  if (roles.has("scheduler")) {
    const partner = schedulers.find(
      (one) => one.name !== host.name && one.failureDomain === host.failureDomain,
    );
    if (partner)
      context.note(
        "error",
        `${host.name} and ${partner.name} are both schedulers in failure domain ${host.failureDomain}: one fault takes both`,
        host,
      );
    if (schedulers.length < 2)
      context.note(
        "warning",
        `${host.name} is the only scheduler: when it is down, nothing is planned`,
        host,
      );
    if (roles.has("executor"))
      context.note(
        "warning",
        `${host.name} is scheduler and executor: a job that runs away takes the scheduler with it`,
        host,
      );
  }
  if (roles.has("virtualIp") && context.hostsWith("virtualIp").length > 2)
    context.note("warning", "more than two hosts share the address: a third one adds no safety", host);
  if (roles.has("watchman")) {
    const watched = [...schedulers, ...context.hostsWith("recordStore")].find(
      (one) => one.failureDomain === host.failureDomain && one.name !== host.name,
    );
    if (roles.has("recordStore"))
      context.note(
        "error",
        `${host.name} is watchman and record store: it would fall silent together with what it watches`,
        host,
      );
    if (watched)
      context.note(
        "warning",
        `the watchman ${host.name} is in failure domain ${host.failureDomain} with ${watched.name}: one fault may take it with what it watches`,
        host,
      );
  }
  for (const one of inventory.hosts) {
    if (one.profile !== undefined && !profiles.profiles.has(one.profile))
      context.note(
        "error",
        `${one.name} has the profile ${one.profile}, which is not there or has problems: what depends on its role is not complete`,
        one,
      );
  }
}
