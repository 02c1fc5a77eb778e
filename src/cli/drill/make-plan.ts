/** The plan of a run, with what the records say now where they answer. */
import { isEscapementError, messageOf } from "../../base/errors.ts";
import type { DrillPlan } from "../../chaos/plan/drill-plan.ts";
import type { ClusterRoles } from "../../chaos/plan/drilled-cluster.ts";
import type { ResolvedDrill } from "../../spec/drill-definition.ts";
import { type StoreOptions, withStore } from "../store-url.ts";
import { say } from "../terminal.ts";
import type { DrilledHosts } from "./cluster-hosts.ts";

export interface PlanWish {
  readonly drill: ResolvedDrill;
  readonly variants: readonly string[];
  readonly named: readonly string[];
}

/** @returns the plan; without roles where no store was named or none answers, which is said */
export async function makePlan(
  { drill, variants, named }: PlanWish,
  { hosts, leases }: DrilledHosts,
  store: StoreOptions,
): Promise<DrillPlan> {
  const { planDrill } = await import("../../chaos/plan/drill-plan.ts");
  const roles = await rolesNow(store);
  return planDrill({ drill, variants, leases, hosts, roles, named });
}

async function rolesNow(store: StoreOptions): Promise<ClusterRoles | undefined> {
  const { sampleCluster } = await import("../../store/drill/drill-sample.ts");
  try {
    return await withStore(store, (db) => sampleCluster(db));
  } catch (error) {
    if (!isEscapementError(error)) throw error;
    if (error.code !== "E_STORE_URL_MISSING" && error.code !== "E_STORE_UNAVAILABLE") throw error;
    say(`note: the records were not asked: ${messageOf(error)}`);
    return undefined;
  }
}
