/** What the watch over a fault is given, and what it gives back. */
import type { DrillDefinition } from "../../spec/drill-definition.ts";
import type { Database } from "../../store/database.ts";
import type { ClusterSample } from "../../store/drill/drill-sample.ts";
import type { DrillEvent, DrillOrder } from "../host/drill-host.ts";
import type { DrillTargetHost } from "../plan/select-target.ts";
import type { EvidenceBook } from "./evidence.ts";
import type { ReachWatch } from "./reach-watch.ts";
import type { ReferenceClock } from "./reference-clock.ts";
import type { WatchedHost } from "./watched-host.ts";

export interface FaultScene {
  readonly definition: DrillDefinition;
  readonly order: DrillOrder;
  readonly target: DrillTargetHost;
  readonly targetHost: WatchedHost;
  readonly others: readonly WatchedHost[];
  /** From before the fault. */
  readonly before: ClusterSample;
  readonly db: Database;
  readonly clock: ReferenceClock;
  readonly book: EvidenceBook;
  /** Undefined: nobody is asked whether they reach the target. */
  readonly reach: ReachWatch | undefined;
  /** Any of them takes the fault back; the reason is the signal's. */
  readonly stops: readonly AbortSignal[];
  /** The cluster's; undefined: it has none. */
  readonly virtualAddress: string | undefined;
  readonly say: (line: string) => void;
  /** Told once, when the host has injected the fault. */
  readonly onInjected: (atMs: number) => Promise<void>;
  /** Told once, when the host takes it back, or is asked to. */
  readonly onRestoring: () => Promise<void>;
}

export interface WatchedFault {
  readonly state: "ended" | "lost";
  readonly events: readonly DrillEvent[];
  /** By the reckoning; null: the host did not say. */
  readonly faultAtMs: number | null;
  /** Null as well where the host never said that it is restored. */
  readonly restoredAtMs: number | null;
  /** Why it was taken back early. */
  readonly halted: string | undefined;
}
