/**
 * What the items of the checklist look at. Everything here is a probe or was
 * parsed already; an item decides, it does not connect, read arguments or
 * know where a report goes.
 */

import type { Dialogue, ExecResult } from "../remote/remote.ts";
import type { ClusterDefinition } from "../spec/cluster-definition.ts";
import type { ResolvedJob } from "../spec/definitions.ts";
import type { InventoryDefinition } from "../spec/inventory-definition.ts";
import type { Problem } from "../spec/problem.ts";
import type { WatchDefinition } from "../spec/watch-definition.ts";
import type { EndedDrill } from "../store/checklist/drill-history.ts";
import type { Queryable } from "../store/database.ts";
import type { AgedFact } from "./item.ts";

/** The record store, or why nobody could look into it. Then what only the store knows is unknown. */
export type StoreProbe =
  | {
      readonly state: "open";
      /** Every statement has the time limit of the item that asks. */
      readonly db: Queryable;
      /** The database's clock. */
      now(): Promise<Date>;
    }
  | { readonly state: "unreachable"; readonly reason: string };

/** The files, as they were read; all paths absolute but those of positions. */
export interface CheckedDefinitions {
  /** The folder that `location` of a result is relative to: the repository, else the folder of the files. */
  readonly root: string;
  /** Of `--job` only those; `file` is relative to {@link root}, `definition` as jobs apply would store it. */
  readonly jobs: readonly ResolvedJob[];
  /** Of all jobs, also those that `--job` left out. */
  readonly allJobs: readonly ResolvedJob[];
  /** What is wrong with the job files that became no job: a policy that is not written, for example. `file` is relative to the root. */
  readonly problems?: readonly Problem[];
  readonly cluster?: Located<ClusterDefinition>;
  readonly inventory?: Located<InventoryDefinition>;
  readonly watch?: Located<WatchDefinition>;
  /** SHA-256 over all of the above. */
  readonly digest: string;
}

export interface Located<T> {
  readonly definition: T;
  /** Relative to the root. */
  readonly file: string;
  readonly line: number;
}

/** What a host is for, by the sections of its profile. */
export type HostRole = "record-store" | "scheduler" | "executor" | "watchman";

/** One host of the inventory. It may be unreachable: then `exec` throws, and the item says unknown. */
export interface HostProbe {
  readonly name: string;
  readonly roles: readonly HostRole[];
  /** Hosts of one domain may be lost together. */
  readonly failureDomain: string;
  /** Where it is a container, what kind (`systemd-nspawn`): it has no kernel and no clock of its own. */
  readonly container?: string;
  /**
   * Runs a command as root and gives what it said; an exit code other than 0 is a result. Without a dialogue
   * its input is empty.
   * @throws EscapementError when the host could not be reached or the time was up: never an answer
   */
  exec(
    argv: readonly string[],
    how: { readonly deadlineMs: number; readonly dialogue?: Dialogue },
  ): Promise<ExecResult>;
}

/** `hosts`: containers of the lab, whose clock and kernel are not their own; `machines`: everything else. */
export type Tier = "hosts" | "machines";

/** One ended drill, newest first in a history. */
export type DrillRecord = EndedDrill;

/** How old a fact may be and still count, in milliseconds. */
export interface EvidenceAges extends Readonly<Record<AgedFact, number>> {
  /** Samples that daemons write all the time: clocks, disks, heartbeats. */
  readonly sample: number;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/**
 * Drills, test alerts and restores each week and a day; backups each day and two hours. Whether
 * an archive can be read is tried again when people, versions and sizes have changed.
 */
export const defaultEvidenceAges: EvidenceAges = {
  drill: 8 * dayMs,
  backup: 26 * hourMs,
  restore: 8 * dayMs,
  testAlert: 8 * dayMs,
  archive: 8 * dayMs,
  archiveRestore: 92 * dayMs,
  sample: 10 * 60_000,
};

/** A standby of the record store; nothing is written to it. */
export type StandbyProbe =
  | { readonly state: "open"; readonly db: Queryable }
  | { readonly state: "unreachable"; readonly reason: string };

export interface CheckContext {
  readonly store: StoreProbe;
  /** Where one was named; else the store's own view of its followers is all there is. */
  readonly standby?: StandbyProbe;
  readonly definitions: CheckedDefinitions;
  /** Empty without an inventory: items that need hosts are unknown then. */
  readonly hosts: readonly HostProbe[];
  readonly tier: Tier;
  /** The executions that are looked at; by the database's clock where there is one. */
  readonly window: { readonly from: Date; readonly to: Date };
  readonly maxAgeMs: EvidenceAges;
  readonly drills: {
    /** Ended runs of a class, newest first, at most 50. @throws when the store cannot be asked */
    historyOf(drillClass: string): Promise<readonly DrillRecord[]>;
  };
  /** RFC 3339 for `Evidence.at`: the database's time, moved on by the monotonic clock; without a store this machine's. */
  at(): string;
  /** How long an item may take, from its start. */
  readonly itemTimeoutMs: number;
  /** Fires when the item's time is up or the person stopped the run. */
  readonly signal: AbortSignal;
}
