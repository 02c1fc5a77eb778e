/**
 * What the rules measure by. Durations in milliseconds, shares between 0 and 1.
 * A watch file overrides them; the numbers here are what counts without one.
 */

/** The limits of one job. */
export interface JobLimits {
  /** Added to the time by which a success is expected. */
  readonly graceMs: number;
  /** A fire must have ended with success this long after its time; null: no deadline. */
  readonly deadlineMs: number | null;
}

export interface WatchSettings {
  /** A success is due this many periods after the one before: 1.5. */
  readonly successPeriods: number;
  /** A fire that is not open this long after its time is an alert, whatever its period. */
  readonly openWithinMs: number;
  readonly leaderAbsentMs: number;
  readonly lateStartMs: number;
  /** A deadline at risk is said this long ahead. */
  readonly atRiskAheadMs: number;
  /** A finish in less than this share of the usual time is suspicious. */
  readonly fastShare: number;
  readonly fewRowsShare: number;
  /** A duration above this share of the period is too near to it. */
  readonly nearPeriodShare: number;
  /** A lease that ended this long ago should have been reaped. */
  readonly leaseOverdueMs: number;
  /** A shard that was taken back from dead executors this often is in a loop. */
  readonly reclaims: number;
  /** A process that has said nothing for this long is silent. */
  readonly silentMs: number;
  /** For how long a failed execution without a rerun stays an alert. */
  readonly failedForMs: number;
  /** For how long an edited schedule is shown. */
  readonly editedForMs: number;
  readonly clockWarnMs: number;
  readonly clockCriticalMs: number;
  /** A scheduler this far off does not lead while another one can. */
  readonly clockRefuseMs: number;
  /** The backlog must have grown for this long. */
  readonly backlogForMs: number;
  /** …to this many shards waiting for each slot. */
  readonly backlogPerSlot: number;
  readonly replicaLagMs: number;
  readonly replicaLagBytes: number;
  readonly xminAgeMs: number;
  /** Size of the database at which the store counts as full; null: not watched. */
  readonly storeFullBytes: number | null;
  /** Free share of a file system of the store's host, below which it warns, and is critical. */
  readonly storeDiskWarnShare: number;
  readonly storeDiskCriticalShare: number;
  /** A report of its disks that is older than this is no longer seen. */
  readonly storeDiskStaleMs: number;
  /** A row that says who holds the virtual address counts for this long. */
  readonly virtualAddressFreshMs: number;
  readonly virtualAddressAbsentMs: number;
  /** A host's time daemon must reach this many sources. */
  readonly timeSources: number;
  /** Names of the cluster file. */
  readonly schedulerNodes: readonly string[];
  readonly executorNodes: readonly string[];
  /** @param job `namespace/name` */
  limitsOf(job: string): JobLimits;
}

const minuteMs = 60_000;

export const defaultWatchSettings: WatchSettings = {
  successPeriods: 1.5,
  openWithinMs: minuteMs,
  leaderAbsentMs: minuteMs,
  lateStartMs: 5 * minuteMs,
  atRiskAheadMs: 30 * minuteMs,
  fastShare: 0.1,
  fewRowsShare: 0.2,
  nearPeriodShare: 0.8,
  leaseOverdueMs: minuteMs,
  reclaims: 3,
  silentMs: minuteMs,
  failedForMs: 3 * 86_400_000,
  editedForMs: 60 * minuteMs,
  clockWarnMs: 100,
  clockCriticalMs: 500,
  clockRefuseMs: 1_000,
  backlogForMs: 10 * minuteMs,
  backlogPerSlot: 4,
  replicaLagMs: 60_000,
  replicaLagBytes: 64 * 1024 * 1024,
  xminAgeMs: 30 * minuteMs,
  storeFullBytes: null,
  storeDiskWarnShare: 0.2,
  storeDiskCriticalShare: 0.1,
  storeDiskStaleMs: 5 * minuteMs,
  virtualAddressFreshMs: 20_000,
  virtualAddressAbsentMs: minuteMs,
  timeSources: 2,
  schedulerNodes: [],
  executorNodes: [],
  limitsOf: () => ({ graceMs: minuteMs, deadlineMs: null }),
};
