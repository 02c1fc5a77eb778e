/** Whether the watchman would outlive what it watches: another host, another failure domain. */
import type { Look } from "../../store/checklist/look.ts";
import type { WatchmanState, WorkingHost } from "../../store/checklist/watch-state.ts";
import type { CheckContext } from "../context.ts";
import type { Result } from "../item.ts";
import { clusterScope, fileEvidence, queryEvidence, result } from "./verdicts.ts";

export function watchmanPlace(context: CheckContext, row: WatchmanState, working: Look<WorkingHost>): Result {
  const scope = clusterScope(context);
  const evidence = [queryEvidence(context, working)];
  const todo = "move the watchman to a host that is lost with none of them";
  const beside = working.rows.filter(({ host }) => host === row.host);
  if (beside.length > 0) {
    const message = `the watchman runs on ${row.host}, beside ${beside.map(({ node }) => node).join(", ")}`;
    return result(scope, "fail", message, evidence, { todo });
  }
  const inventory = context.definitions.inventory;
  if (!inventory)
    return result(scope, "unknown", "no inventory says which hosts are lost together", evidence, {
      todo: "name the inventory",
    });
  const { hosts } = inventory.definition;
  const location = { file: inventory.file, line: inventory.line };
  const listing = hosts.map(({ name, failureDomain }) => `${name}: ${failureDomain}`).join("\n");
  evidence.push(fileEvidence(context, inventory.file, listing));
  const own = hosts.find(({ name }) => name === row.host);
  if (!own)
    return result(
      scope,
      "unknown",
      `${row.host}, where the watchman runs, is not in the inventory`,
      evidence,
      {
        todo: "enter it, with its failure domain",
        location,
      },
    );
  // A host without a domain counts as one of its own: where none has one, nobody has thought about it.
  if (hosts.every(({ name, failureDomain }) => name === failureDomain))
    return result(scope, "unknown", "no host of the inventory has a failure domain", evidence, {
      todo: "write failureDomain for every host",
      location,
    });
  const stores = context.hosts.filter(({ roles }) => roles.includes("record-store")).map(({ name }) => name);
  const schedulers = working.rows.filter(({ part }) => part === "scheduler").map(({ host }) => host);
  const watched = [...new Set([...schedulers, ...stores])];
  if (schedulers.length === 0 || stores.length === 0) {
    const what =
      stores.length === 0 ? "no host of the inventory is the record store's" : "no scheduler lives";
    return result(scope, "unknown", `${what}: what it is lost together with cannot be told`, evidence, {
      todo: "enter the host into the inventory, with the profile record-store; start the schedulers",
      location,
    });
  }
  const together = watched.filter(
    (name) => hosts.find((host) => host.name === name)?.failureDomain === own.failureDomain,
  );
  if (together.length > 0) {
    const message = `the watchman is lost together with ${together.join(", ")} (${own.failureDomain})`;
    return result(scope, "fail", message, evidence, { todo, location });
  }
  return result(
    scope,
    "pass",
    `it runs on ${row.host} in ${own.failureDomain}, away from ${watched.join(", ")}`,
    evidence,
    { location },
  );
}
