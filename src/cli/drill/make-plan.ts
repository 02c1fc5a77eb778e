/** The plan of a run, with what the records say now where they answer. */
import { isEscapementError, messageOf } from "../../base/errors.ts";
import type { DrillPlan } from "../../chaos/plan/drill-plan.ts";
import type { DrillSwitches } from "../../chaos/plan/drill-switches.ts";
import type { ClusterRoles } from "../../chaos/plan/drilled-cluster.ts";
import type { ResolvedDrill } from "../../spec/drill-definition.ts";
import type { ServerHealth } from "../../store/watch/health.ts";
import { type StoreOptions, withStore } from "../store-url.ts";
import { say } from "../terminal.ts";
import { type DrilledHosts, requireHosts } from "./cluster-hosts.ts";

export interface PlanWish {
  readonly drill: ResolvedDrill;
  readonly variants: readonly string[];
  readonly named: readonly string[];
}

/**
 * @returns the plan; without roles where no store was named, which is said
 * @throws E_BAD_VALUE for a named host that there is not; E_STORE_UNAVAILABLE for a store that was named and does not answer
 */
export async function makePlan(
  { drill, variants, named }: PlanWish,
  drilled: DrilledHosts,
  store: StoreOptions,
): Promise<DrillPlan> {
  const { hosts, leases } = drilled;
  requireHosts(drilled, named);
  const { planDrill } = await import("../../chaos/plan/drill-plan.ts");
  const { roles, ...now } = (await recordsNow(store)) ?? { roles: undefined };
  return planDrill({ drill, variants, leases, hosts, roles, named, ...now });
}

interface RecordsNow {
  readonly roles: ClusterRoles;
  readonly replicas: ServerHealth["replicas"];
  readonly switches: DrillSwitches;
}

async function recordsNow(store: StoreOptions): Promise<RecordsNow | undefined> {
  const { readServerHealth } = await import("../../store/watch/health.ts");
  const { sampleCluster } = await import("../../store/drill/drill-sample.ts");
  const { activeDrillHalt } = await import("../../store/drill/drill-halt.ts");
  const { currentDrillRun } = await import("../../store/drill/drill-run.ts");
  try {
    return await withStore(store, async (db) => ({
      roles: await sampleCluster(db),
      replicas: (await readServerHealth(db)).replicas,
      switches: { halt: await activeDrillHalt(db), run: await currentDrillRun(db) },
    }));
  } catch (error) {
    if (!isEscapementError(error) || error.code !== "E_STORE_URL_MISSING") throw error;
    say(`note: the records were not asked: ${messageOf(error)}`);
    return undefined;
  }
}
