/** Hosts that work by the records and that no inventory names: nobody has looked at them. */
import { readWorkingHosts } from "../../store/checklist/watch-state.ts";
import type { CheckContext } from "../context.ts";
import type { Result } from "../item.ts";
import { openStore } from "./parts.ts";
import { clusterScope, queryEvidence, result } from "./verdicts.ts";

/** What has not been heard of for that long is gone. */
const silentMs = 60_000;

/**
 * Nothing to say without hosts: whoever asks them says that there are none.
 * @param hostNames what hosts call themselves, beside their names in the inventory
 */
export async function unlistedHosts(
  context: CheckContext,
  hostNames: ReadonlySet<string> = new Set(),
): Promise<Result[]> {
  if (context.hosts.length === 0) return [];
  const looked = await readWorkingHosts(openStore(context), silentMs);
  const listed = new Set([...hostNames, ...context.hosts.map(({ name }) => name)]);
  if (looked.rows.length === 0)
    return [
      result(
        clusterScope(context),
        "unknown",
        "nobody works by the records: which hosts matter cannot be told",
        [queryEvidence(context, looked)],
        { todo: "escapement status: start schedulers and executors" },
      ),
    ];
  const missing = looked.rows.filter(({ host }) => !listed.has(host));
  if (missing.length === 0) return [];
  const message = `${missing.map(({ node, host }) => `${host} runs ${node}`).join(", ")}, is in no inventory by that name, or could not be reached, and was not looked at`;
  return [
    result(clusterScope(context), "unknown", message, [queryEvidence(context, looked)], {
      todo: "enter it into the inventory, or make it reachable",
    }),
  ];
}
