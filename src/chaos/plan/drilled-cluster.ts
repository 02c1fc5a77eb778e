/** What a plan knows of the hosts: from the inventory and its profiles, not from the hosts themselves. */

export type HostPart = "scheduler" | "executor" | "record-store" | "watchman";

export interface ClusterHost {
  /** Name in the inventory; nodes of the cluster have the same. */
  readonly name: string;
  /** Addresses by which the other hosts reach it. */
  readonly addresses: readonly string[];
  /** Of its sshd: what answers other hosts, if only by a refusal. Default 22. */
  readonly sshPort?: number;
  readonly parts: readonly HostPart[];
  /** Faults that its profile allows; undefined: the profile does not say. The host itself has the last word. */
  readonly faults?: readonly string[];
  /** The systemd unit of each part, `escapement-executor.service` and the like. */
  readonly units: Readonly<Partial<Record<HostPart, string>>>;
}

/** What the records say now, as far as the choice of a target asks; ClusterSample of src/store/drill has it. */
export interface ClusterRoles {
  readonly leader: { readonly node: string | null; readonly alive: boolean };
  readonly schedulers: readonly { readonly node: string; readonly role: string }[];
  readonly executors: readonly {
    readonly node: string;
    readonly state: string;
    readonly expired: boolean;
    /** Shards of the drill's own jobs that it runs. */
    readonly probes: number;
    /** Attempts at once, of each class. */
    readonly cpu: number;
    readonly memory: number;
    readonly io: number;
  }[];
  /** Shards that could run and wait. */
  readonly backlog: number;
}
