/** What a run needs from whoever starts it. */
import type { ClusterDefinition } from "../../spec/cluster-definition.ts";
import type { DrillDefinition, DrillVariant } from "../../spec/drill-definition.ts";
import type { Database } from "../../store/database.ts";
import type { DrillHost } from "../host/drill-host.ts";
import type { PreflightItem } from "../plan/cluster-items.ts";
import type { ClusterHost } from "../plan/drilled-cluster.ts";
import type { Witness, WitnessOptions } from "../witness.ts";

export interface ProbeWish {
  /** What executors run as the drill's own work: `escapement drill probe` as they find it. */
  readonly command: readonly [string, ...string[]];
  /** An address of the controller that executors reach; also where the witness listens. */
  readonly address: string;
  /** Default: any free one. */
  readonly port?: number;
  readonly runAs?: string;
}

export interface RunDrillOptions {
  readonly definition: DrillDefinition;
  readonly digest: string;
  readonly variant: DrillVariant;
  readonly cluster: Pick<ClusterDefinition, "name" | "executor" | "scheduler">;
  /** The address that the schedulers' hosts share; undefined: there is none. */
  readonly virtualAddress: string | undefined;
  /** Every host that has a part of the cluster. */
  readonly hosts: readonly ClusterHost[];
  /** Hosts asked for by name; empty: any that fits. */
  readonly named: readonly string[];
  /** A way to a host; it is closed at the end. */
  readonly connectHost: (host: ClusterHost) => Promise<DrillHost>;
  /** Its queries should fail after some seconds, not after half a minute. */
  readonly db: Database;
  readonly probe: ProbeWish;
  readonly person: string;
  readonly trigger: "manual" | "schedule";
  readonly version: string;
  /** Names this controller: host, process, and something that is never used again. */
  readonly controller: string;
  /** Default: a new one. */
  readonly runId?: string;
  /** In place of the settling time that definition and leases give. */
  readonly settleMs?: number;
  /** First Ctrl-C: take the fault back, restore, end as unknown. */
  readonly signal: AbortSignal;
  /** Second Ctrl-C: leave; the host restores itself. Its reason names the signal. The process has to end then. */
  readonly hurry?: AbortSignal;
  readonly say: (line: string) => void;
  /** Default: a {@link Witness}. Tests give one that believes everything. */
  readonly startWitness?: (options: WitnessOptions) => Promise<Witness>;
  /** Told what preflight found, before it is refused or goes on. */
  readonly onPreflight?: (items: readonly PreflightItem[]) => void;
  /** Told when the run enters a state, before it does anything there; tests break things then. */
  readonly onState?: (state: string) => Promise<void> | void;
}
