/** Looks at a host and holds it against what it should be. */
import type { Remote } from "../../remote/remote.ts";
import { type HostPaths, hostPaths } from "../bundle/probe.ts";
import { readBundle } from "../bundle/read-bundle.ts";
import { Reading } from "../bundle/reading.ts";
import { resultOf, runBundle } from "../bundle/run-bundle.ts";
import { settleAndReadBundle } from "../bundle/settle-bundle.ts";
import type { Resource } from "../resource.ts";
import { type HostPlan, planHost } from "./host-plan.ts";
import { probesOf } from "./judge.ts";

/** Reading is a second at most on a host that lives; a host this slow is in trouble. */
const readDeadlineMs = 60_000;
/** Putting an interrupted transaction right may take packages off. */
const settleDeadlineMs = 600_000;

export interface LookOptions {
  readonly paths?: HostPaths;
  /** For tests: programs in place of the system's. */
  readonly path?: string;
  /** End what an earlier, interrupted apply left, before looking. */
  readonly settle?: boolean;
}

/** @throws E_HOST_LOST, and what Remote throws */
export async function lookAndPlan(
  remote: Remote,
  resources: readonly Resource[],
  options: LookOptions = {},
): Promise<HostPlan> {
  return planHost(remote.host, resources, await look(remote, resources, options));
}

/** One trip. @throws E_HOST_LOST, and what Remote throws */
export async function look(
  remote: Remote,
  resources: readonly Resource[],
  { paths = hostPaths(), path, settle = false }: LookOptions = {},
): Promise<Reading> {
  const options = { paths, ...(path !== undefined && { path }) };
  const probes = probesOf(resources);
  if (!settle) {
    const bundle = readBundle(probes, options);
    return new Reading(
      await runBundle(remote, bundle, { what: "reading", deadlineMs: readDeadlineMs }),
      paths,
    );
  }
  const bundle = settleAndReadBundle(probes, options);
  const facts = await runBundle(remote, bundle, { what: "reading", deadlineMs: settleDeadlineMs });
  // Another change is being made, or waits: the plan shows it as interrupted.
  if (resultOf(facts).result !== "read") return look(remote, resources, options);
  // What was put right on the way is no fact of the host as it is.
  return new Reading(
    facts.filter((fact) => !/^(?:settled|result)\t/.test(fact)),
    paths,
  );
}
