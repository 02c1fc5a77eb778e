/** A plan as a file: what each host said, so that an apply is bound to it. Secrets are in it as sums only. */
import { readFile } from "node:fs/promises";
import { z } from "zod";
import { EscapementError, isEscapementError, messageOf } from "../../base/errors.ts";
import type { HostFacts } from "../../hardware/host-facts.ts";
import type { HostResult } from "../../remote/fleet.ts";
import { digest } from "../../spec/digest.ts";
import { bindingLines } from "../bundle/binding.ts";
import { hostPaths } from "../bundle/probe.ts";
import { Reading } from "../bundle/reading.ts";
import type { Describe, PlannedHost } from "./fleet-plan.ts";
import { type HostPlan, planHost } from "./host-plan.ts";

export const planFileVersion = 1;

const hostSchema = z.object({
  host: z.string(),
  status: z.string(),
  digest: z.string().optional(),
  observedDigest: z.string().optional(),
  observed: z.array(z.string()).optional(),
  facts: z.unknown().optional(),
});
const planSchema = z.object({
  kind: z.literal("Plan"),
  planVersion: z.literal(planFileVersion),
  toolVersion: z.string(),
  madeAt: z.string(),
  hosts: z
    .array(hostSchema)
    .min(1)
    .refine((hosts) => new Set(hosts.map(({ host }) => host)).size === hosts.length, {
      error: "has a host twice",
    }),
});

export type PlanFile = z.infer<typeof planSchema>;

/** One host of a plan, for `plan.json` and for `plan --json`. */
export function planDocument(result: HostResult<PlannedHost>): Record<string, unknown> {
  if (result.status !== "ok") {
    const { host, status, code, message, hint } = result;
    return { host, status, code, message, hint };
  }
  const { plan, facts, notes } = result.value;
  return {
    host: result.host,
    status: "planned",
    durationMs: Math.round(result.durationMs),
    digest: plan.digest,
    observedDigest: digest(bindingLines(plan.reading.lines)),
    resources: plan.entries.map(({ resource, judged }) => ({
      id: resource.id,
      kind: resource.kind,
      state: judged.state,
      risk: resource.risk,
      ...(judged.state === "ok" ? { noop: resource.noop } : { lines: judged.lines }),
      ...(judged.diff !== undefined && { diff: judged.diff }),
      ...(judged.needsReboot && { needsReboot: true }),
      ...(judged.notPreviewable !== undefined && { notPreviewable: judged.notPreviewable }),
    })),
    restarts: plan.restarts,
    notPreviewable: notPreviewable(plan),
    interrupted: plan.interrupted,
    notes,
    observed: plan.reading.lines,
    facts,
  };
}

/** What a plan cannot show, a sentence each. */
export function notPreviewable(plan: HostPlan): string[] {
  return plan.entries.flatMap(({ resource, judged }) => {
    if (judged.steps.length === 0) return [];
    const reason = judged.notPreviewable ?? resource.notPreviewable;
    return reason === undefined ? [] : [`${resource.id}: ${reason}`];
  });
}

/** @throws E_FILE_UNREADABLE, E_BAD_DATA */
export async function readPlanFile(file: string): Promise<PlanFile> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    throw new EscapementError("E_FILE_UNREADABLE", { file, reason: messageOf(error) });
  }
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    throw new EscapementError("E_BAD_DATA", { what: `${file}: ${messageOf(error)}`, hint: again });
  }
  const result = planSchema.safeParse(parsed);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const what = `${file} is no plan of this version: ${issue?.path.join(".") ?? ""} ${issue?.message ?? ""}`;
  throw new EscapementError("E_BAD_DATA", { what, hint: again });
}

const again = "make it again with escapement plan -o FILE";

/**
 * The plan of one host out of the file, from definitions as they are now.
 * @throws E_REFUSED where they are no longer those of the plan, or the plan was edited
 */
export function planFromFile(entry: PlanFile["hosts"][number], describe: Describe): PlannedHost {
  const { host, observed, facts } = entry;
  if (observed === undefined || facts === undefined)
    throw new EscapementError("E_REFUSED", {
      what: `the plan has nothing for ${host}: it was ${entry.status}`,
      hint: again,
    });
  const { resources, notes } = described(host, facts as HostFacts, describe);
  const plan = planHost(host, resources, new Reading(observed, hostPaths()));
  const stale =
    plan.digest !== entry.digest
      ? "the inventory or a profile has changed since the plan was made"
      : digest(bindingLines(observed)) !== entry.observedDigest
        ? "what the host said was edited in the plan file"
        : undefined;
  if (stale) throw new EscapementError("E_REFUSED", { what: `${host}: ${stale}`, hint: again });
  return { plan, facts: facts as HostFacts, notes };
}

/** Facts are not bound by a digest of their own; what they lead to is. Edited ones may lead nowhere. */
function described(host: string, facts: HostFacts, describe: Describe): ReturnType<Describe> {
  try {
    return describe(host, facts);
  } catch (error) {
    if (isEscapementError(error)) throw error;
    const what = `${host}: the facts in the plan file are not those of a host: ${messageOf(error)}`;
    throw new EscapementError("E_REFUSED", { what, hint: again }, { cause: error });
  }
}
