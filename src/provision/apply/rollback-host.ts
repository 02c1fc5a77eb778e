/** Takes back the last committed transaction of a host, with the host's own script. */
import type { Remote } from "../../remote/remote.ts";
import { hostPaths } from "../bundle/probe.ts";
import { resultOf, runBundle } from "../bundle/run-bundle.ts";
import { lastChangeBundle, rollbackBundle } from "../bundle/settle-bundle.ts";

export interface RollbackOptions {
  /** The transaction that must be the last; without it, whichever is. */
  readonly transaction?: string;
  /** Although the host has changed since. */
  readonly force?: boolean;
  readonly root?: string;
  readonly path?: string;
}

export interface RollbackOutcome {
  readonly host: string;
  /** rolled-back; none: there is nothing to take back; moved, refused, busy: nothing was done; broken. */
  readonly result: "rolled-back" | "none" | "moved" | "refused" | "busy" | "broken";
  readonly reason: string;
  readonly moved: readonly string[];
}

export interface LastChange {
  /** Undefined: there is nothing to take back. */
  readonly transaction: string | undefined;
  /** Ids of the resources that it changed; empty where an older version made it. */
  readonly resources: readonly string[];
}

const deadlineMs = 900_000;
const lookDeadlineMs = 60_000;
const known = ["rolled-back", "none", "moved", "refused", "busy"] as const;

/** What `rollbackHost` would take back. @throws E_HOST_LOST, and what Remote throws */
export async function lastChange(
  remote: Remote,
  { root, path }: Pick<RollbackOptions, "root" | "path"> = {},
): Promise<LastChange> {
  const bundle = lastChangeBundle({ paths: hostPaths(root), ...(path !== undefined && { path }) });
  const answer = resultOf(await runBundle(remote, bundle, { what: "rollback", deadlineMs: lookDeadlineMs }));
  return {
    transaction: answer.result === "last" ? answer.reason : undefined,
    resources: answer.of("change").map((values) => values.join(" ")),
  };
}

/** @throws E_HOST_LOST, and what Remote throws */
export async function rollbackHost(remote: Remote, options: RollbackOptions = {}): Promise<RollbackOutcome> {
  const { transaction, force = false, root, path } = options;
  const bundle = rollbackBundle(transaction, force, {
    paths: hostPaths(root),
    ...(path !== undefined && { path }),
  });
  const answer = resultOf(await runBundle(remote, bundle, { what: "rollback", deadlineMs }));
  return {
    host: remote.host,
    result: known.find((one) => one === answer.result) ?? "broken",
    reason: answer.reason,
    moved: answer.of("moved").map((values) => values.join(" ")),
  };
}
