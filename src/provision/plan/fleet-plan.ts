/** Plans of many hosts: facts, what each should be, what each is; one connection a host. */
import { randomUUID } from "node:crypto";
import { EscapementError } from "../../base/errors.ts";
import { gatherDeadlineMs, gatherScript } from "../../hardware/gather/gather-script.ts";
import { parseGathered } from "../../hardware/gather/gathered.ts";
import type { HostFacts } from "../../hardware/host-facts.ts";
import { type FleetOptions, type HostResult, runFleet } from "../../remote/fleet.ts";
import type { Remote } from "../../remote/remote.ts";
import type { Resource } from "../resource.ts";
import { clockDifference } from "./clock-difference.ts";
import type { FactCache } from "./fact-cache.ts";
import type { HostPlan } from "./host-plan.ts";
import { type LookOptions, lookAndPlan } from "./look.ts";

export interface Described {
  readonly resources: readonly Resource[];
  /** What the operator should know, a sentence each. */
  readonly notes: readonly { readonly severity: "error" | "warning" | "info"; readonly text: string }[];
}

/** What a host should be, from its facts. @throws E_HOST_NO_PROFILE */
export type Describe = (host: string, facts: HostFacts) => Described;

export interface PlannedHost {
  readonly plan: HostPlan;
  readonly facts: HostFacts;
  readonly notes: Described["notes"];
  /** A sentence where the host's clock and this machine's differ; it is among the notes, too. */
  readonly clock?: string;
}

export interface FleetPlanOptions extends LookOptions, Omit<FleetOptions<PlannedHost>, "work"> {
  readonly describe: Describe;
  /** Where facts of this boot of a host may be; without it, or without them, they are gathered. */
  readonly cache?: FactCache;
}

export async function planFleet(options: FleetPlanOptions): Promise<readonly HostResult<PlannedHost>[]> {
  return runFleet({ ...options, work: (remote) => planOne(remote, options) });
}

/** @throws E_REFUSED where the profile says that it does not fit the host; else as `lookAndPlan` */
export async function planOne(
  remote: Remote,
  options: Pick<FleetPlanOptions, "describe" | "cache"> & LookOptions,
): Promise<PlannedHost> {
  const cached = await options.cache?.get(remote.host);
  if (cached) {
    const planned = await planWith(remote, cached, options);
    const { bootId } = cached.os;
    if ("known" in bootId && bootId.known === planned.plan.reading.bootId) return planned;
  }
  const facts = await gather(remote);
  await options.cache?.put(remote.host, facts);
  return planWith(remote, facts, options);
}

async function planWith(
  remote: Remote,
  facts: HostFacts,
  options: Pick<FleetPlanOptions, "describe"> & LookOptions,
): Promise<PlannedHost> {
  const { resources, notes } = options.describe(remote.host, facts);
  const error = notes.find(({ severity }) => severity === "error");
  if (error)
    throw new EscapementError("E_REFUSED", {
      what: `${remote.host}: ${error.text}`,
      hint: "change the profile or the inventory; nothing was changed on the host",
    });
  const askedMs = Date.now();
  const plan = await lookAndPlan(remote, resources, options);
  const clock = clockDifference(plan.reading.clockSeconds, askedMs, Date.now());
  if (clock === undefined) return { plan, facts, notes };
  return { plan, facts, notes: [...notes, { severity: "warning", text: clock }], clock };
}

async function gather(remote: Remote): Promise<HostFacts> {
  const nonce = randomUUID().replaceAll("-", "");
  const { stdout } = await remote.exec({
    argv: ["sh", "-s"],
    stdin: gatherScript(nonce),
    asRoot: true,
    deadlineMs: gatherDeadlineMs,
  });
  return parseGathered(stdout, nonce);
}
