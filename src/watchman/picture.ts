/**
 * What the watchman knows at one instant: read from the record store in one
 * pass, judged by pure rules. All instants are the database's.
 */
import type { TimeSource } from "../hardware/own-time-source.ts";
import type { Blocking, DstGap, DstOverlap, Misfire, Schedule } from "../spec/job-definition.ts";
import type { ExecutionStatus } from "../store/execution.ts";

/** The part of a definition that decides when a job fires and what it owes. */
export interface WatchedDefinition {
  readonly version: number;
  readonly digest: string;
  /** In force for fires after this instant, until that of the next version. */
  readonly effectiveFrom: Date;
  readonly appliedBy: string;
  readonly schedule: Schedule;
  readonly timeZone: string;
  readonly dstGap?: DstGap;
  readonly dstOverlap?: DstOverlap;
  readonly misfire: Misfire;
  readonly blocking: Blocking;
  readonly timeoutMs: number;
  readonly leaseMs: number;
  readonly retry: { readonly maxAttempts: number };
}

export interface WatchedExecution {
  readonly fireTime: Date;
  readonly status: ExecutionStatus;
  readonly trigger: "schedule" | "misfire" | "manual";
  readonly openedAt: Date | null;
  readonly startedAt: Date | null;
  readonly endedAt: Date | null;
  /** How long after its time it was started. */
  readonly missedSeconds: number | null;
}

/** An execution that is not finished, with its live state. */
export interface LiveExecution extends WatchedExecution {
  /** `held`: waits for another by policy. `open`: claimable or claimed. */
  readonly state: "planned" | "held" | "open";
  readonly dueAt: Date;
  /** It waits for a fire that is caught up before it. */
  readonly chained: boolean;
}

/** A shard whose owner no longer renews, or that was reclaimed again and again. */
export interface TroubledShard {
  readonly jobId: number;
  readonly fireTime: Date;
  readonly shardNo: number;
  readonly attempt: number;
  /** Attempts that ended because the executor's lease had. */
  readonly leaseExpirations: number;
  /** Null: nobody owns it now. */
  readonly node: string | null;
  readonly ownerLeaseUntil: Date | null;
}

/** What its last successes were like; null figures when there were too few. */
export interface Baseline {
  readonly successes: number;
  readonly medianMs: number | null;
  readonly slowMs: number | null;
  readonly medianRows: number | null;
}

export interface WatchedJob {
  readonly jobId: number;
  /** `namespace/name`. */
  readonly job: string;
  readonly state: "active" | "paused" | "deleted";
  readonly stateSince: Date;
  /** Fires up to here are nobody's business. */
  readonly knownSince: Date;
  /** The scheduler has accounted for every fire up to here. */
  readonly plannedUntil: Date;
  /** Oldest first; the last one is in force. */
  readonly definitions: readonly WatchedDefinition[];
  /** When it did not fire, oldest first; `to` null: still. */
  readonly pauses: readonly { readonly from: Date; readonly to: Date | null }[];
  /** The success with the newest fire time, among the latest 200 executions. */
  readonly lastSuccess: (WatchedExecution & { readonly rows: number | null }) | null;
  /** Due executions after that success, oldest first; at most 20. */
  readonly sinceSuccess: readonly WatchedExecution[];
  readonly live: readonly LiveExecution[];
  readonly baseline: Baseline | null;
}

export interface WatchedScheduler {
  readonly incarnation: string;
  readonly node: string;
  readonly host: string;
  readonly stopped: boolean;
  readonly lastSeen: Date;
  readonly timeZoneData: string;
  /** Its wall clock minus the database's. */
  readonly offsetMs: number | null;
  /** Whether its host holds the virtual address; null: there is none, or it could not look. */
  readonly holdsVirtualAddress: boolean | null;
  readonly virtualAddressSeenAt: Date | null;
  readonly timeSource: HostTimeSource | null;
}

/** What a host's time daemon says of itself, and when it was asked. */
export interface HostTimeSource extends TimeSource {
  readonly at: Date;
}

/** A file system of a host of the store, as that host has reported it. */
export interface StoreDisk {
  readonly host: string;
  readonly path: string;
  readonly totalBytes: number;
  readonly freeBytes: number;
  readonly at: Date;
}

export interface WatchedExecutor {
  readonly incarnation: string;
  readonly node: string;
  readonly host: string;
  readonly state: "active" | "draining" | "stopped" | "reaped";
  readonly leaseMs: number;
  readonly leaseUntil: Date;
  readonly slots: number;
  /** It takes work of the class control alone: drills, and no job that people wait for. */
  readonly controlOnly: boolean;
  readonly offsetMs: number | null;
  readonly timeSource: HostTimeSource | null;
}

/** A shard that failed for good, as the store itself has noted it. */
export interface FailedExecution {
  /** Key of the alert that the store has raised. */
  readonly dedupKey: string;
  readonly jobId: number;
  readonly fireTime: Date;
  readonly at: Date;
  readonly message: string;
}

export interface ClockStep {
  readonly at: Date;
  readonly node: string;
  readonly part: string;
  readonly offsetMs: number;
}

/** A process's wall clock minus the database's, and by how much the measurement may be wrong. */
export interface ClockReading {
  readonly node: string;
  readonly part: "scheduler" | "executor" | "watchman";
  readonly host: string;
  readonly offsetMs: number;
  /** Half the round trip; 0 where the process has not said. */
  readonly errorMs: number;
}

/** The time service of the watchman's own host. */
export interface ClockSourceState {
  readonly node: string;
  /** Empty: it is well. */
  readonly problems: readonly string[];
  /** What it was judged by, for people. */
  readonly details: Readonly<Record<string, unknown>>;
}

/** A definition in the records that is not what the watchman has seen before. */
export interface TamperedDefinition {
  readonly jobId: number;
  readonly version: number;
  readonly was: string;
  /** Null: the row is gone. */
  readonly is: string | null;
}

/** The server that holds the records. Null: this login may not see it. */
export interface StoreHealth {
  readonly databaseBytes: number | null;
  readonly replicas:
    | readonly { readonly name: string; readonly lagBytes: number; readonly lagMs: number }[]
    | null;
  /** What keeps dead rows from being removed, and for how long. */
  readonly oldestXmin: { readonly who: string; readonly ageMs: number; readonly transactions: number } | null;
  /** Names of what could not be looked at. */
  readonly unknown: readonly string[];
}

/** The backlog at one pass. */
export interface BacklogSample {
  readonly at: Date;
  readonly pendingShards: number;
  readonly runningShards: number;
  readonly mostLateMs: number;
}

export interface Picture {
  /** The database's clock. */
  readonly now: Date;
  readonly leader: {
    readonly holder: string | null;
    readonly node: string | null;
    readonly epoch: number;
    readonly expiresAt: Date;
  };
  readonly timeZoneData: string | null;
  readonly schedulers: readonly WatchedScheduler[];
  readonly executors: readonly WatchedExecutor[];
  readonly jobs: readonly WatchedJob[];
  /** Expected fires for which there is no row at all. */
  readonly absentFires: readonly { readonly jobId: number; readonly fireTime: Date }[];
  readonly failed: readonly FailedExecution[];
  readonly shards: readonly TroubledShard[];
  readonly clockSteps: readonly ClockStep[];
  /** Of living processes. */
  readonly clocks: readonly ClockReading[];
  /** Null: no time service could be asked. */
  readonly clockSource: ClockSourceState | null;
  readonly tampered: readonly TamperedDefinition[];
  /** Oldest first, this pass included. */
  readonly backlog: readonly BacklogSample[];
  /** Null: not looked at in this pass. */
  readonly health: StoreHealth | null;
  /** Empty: nobody reports them, and they are not watched. */
  readonly storeDisks: readonly StoreDisk[];
  /** When somebody was last seen to hold the virtual address, or when we began to look; null: there is none. */
  readonly virtualAddressHeldAt: Date | null;
}
