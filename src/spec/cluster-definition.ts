/**
 * A cluster as the processes see it: which store, who schedules, who executes,
 * and with which leases. Durations in milliseconds, sizes in bytes, paths
 * absolute (the file may write them relative to itself).
 */

/** Where the URL of the record store is found: written out, in a file, or in an environment variable. */
export type StoreLocation =
  | { readonly from: "url"; readonly url: string }
  | { readonly from: "file"; readonly urlFile: string }
  | { readonly from: "env"; readonly urlEnv: string };

export interface HttpAddress {
  /** Host name or IP to listen on. */
  readonly address: string;
  readonly port: number;
}

/** A lease and how it is kept: renewed every `renewEveryMs`, not trusted in its last `stopEarlyMs`. */
export interface LeaseSettings {
  readonly leaseMs: number;
  readonly renewEveryMs: number;
  readonly stopEarlyMs: number;
}

export interface SchedulerNode {
  readonly name: string;
  readonly http: HttpAddress;
}

export interface SchedulerSettings extends LeaseSettings {
  /** How far ahead executions are planned. */
  readonly lookAheadMs: number;
  /** The longest sleep between two looks at the store. */
  readonly maxSleepMs: number;
  /** A host whose clock is this far off the database's is not ready, so that the virtual address leaves it. */
  readonly clockLeaveMs: number;
  /** One this far off does not lead while another scheduler can. */
  readonly clockRefuseMs: number;
  /** The address that follows a ready scheduler, without a prefix. */
  readonly virtualAddress?: string;
  readonly nodes: readonly SchedulerNode[];
}

/** How many attempts of each resource class a node runs at once. */
export interface Slots {
  readonly cpu: number;
  readonly memory: number;
  readonly io: number;
  readonly control: number;
}

export interface ExecutorNode {
  readonly name: string;
  readonly slots: Slots;
  readonly http?: HttpAddress;
  /** Scratch space of attempts; may be deleted at any instant. */
  readonly workDirectory: string;
}

/**
 * `none`: an attempt is a child in a process group, as the executor's own user.
 * `scope`: it runs in a systemd scope with memory and task limits, as the user
 * that its job names; for hosts that were set up for it.
 */
export type Isolation = "none" | "scope";

export interface ExecutorSettings extends LeaseSettings {
  readonly isolation: Isolation;
  /** From SIGTERM to the end of the process. */
  readonly graceMs: number;
  readonly nodes: readonly ExecutorNode[];
}

export interface ClusterDefinition {
  readonly name: string;
  readonly description?: string;
  readonly store: StoreLocation;
  readonly scheduler: SchedulerSettings;
  readonly executor: ExecutorSettings;
  /** `share`: the part of normal concurrency that catch-up may use, 0 to 0.5. */
  readonly catchUp: { readonly share: number };
  readonly records: { readonly retentionMonths: number };
  readonly logs: { readonly directory: string; readonly maxFileBytes: number; readonly keepFiles: number };
}
