/**
 * What a profile turns into for one host: a list of resources with their
 * desired state. Pure data; `bundle` carries it to the host, whose runner
 * reads, compares, changes and can undo every kind.
 */

/** How bad a mistake in this resource can be; shown in the plan, and decides how apply confirms. */
export type Risk =
  /** No running service notices. */
  | "low"
  /** A service restarts or behaves differently. */
  | "medium"
  /** The host may become unreachable or lose its role: sshd, network, firewall, VIP. */
  | "high";

/** Where a value came from: shown by `explain HOST KEY`. */
export interface Provenance {
  /** Dotted name under which `explain` finds it, for example `executor.slots.cpu`. */
  readonly key: string;
  /** The value as it stands in the resource. */
  readonly value: string;
  /** Profile file with line, inventory setting, or `computed`. */
  readonly from: string;
  /** Formula and the facts put into it, in one sentence; absent where the value was simply written down. */
  readonly because?: string;
}

/** What must happen to a service after the resource changed; durable on the host until it has happened. */
export interface Restart {
  readonly unit: string;
  readonly action: "restart" | "reload" | "try-restart";
  /** Never done by apply while this holds; the plan says so and the restart stays pending. */
  readonly unless?: "active-scheduler";
}

/** A command that judges a staged copy. `{file}` stands for the staged path. Any exit but 0 refuses the change. */
export interface Validator {
  readonly argv: readonly string[];
  /** Shown when it refuses. */
  readonly name: string;
}

interface Common {
  /** Unique on the host: `file:/etc/chrony/chrony.conf`. */
  readonly id: string;
  readonly risk: Risk;
  /** Shown when the host already has it: "chrony 4.3 is installed". */
  readonly noop: string;
  /** Resources that must be right before this one is changed. */
  readonly after: readonly string[];
  readonly restarts: readonly Restart[];
  readonly provenance: readonly Provenance[];
  /** Why a plan cannot foresee this resource exactly; such resources are listed by the plan. */
  readonly notPreviewable?: string;
  /**
   * Why this resource can be neither judged nor changed on this host: a fact it is
   * computed from is unknown, or the host cannot do it (`needs-vm: …`). The plan
   * shows it as unknown, never as a pass; its other values mean nothing.
   */
  readonly unavailable?: string;
}

export interface FileResource extends Common {
  readonly kind: "file";
  readonly path: string;
  readonly content: string;
  readonly owner: string;
  readonly group: string;
  /** Permission bits. */
  readonly mode: number;
  readonly validator?: Validator;
  /** Content is a secret: the plan shows digests only. */
  readonly secret?: boolean;
  /** Absent: false. True: the file must not exist. */
  readonly absent?: boolean;
}

export interface DirectoryResource extends Common {
  readonly kind: "directory";
  readonly path: string;
  readonly owner: string;
  readonly group: string;
  readonly mode: number;
}

export interface PackageResource extends Common {
  readonly kind: "package";
  readonly name: string;
  readonly state: "installed" | "absent";
  /** Where given, this exact version. */
  readonly version?: string;
}

export interface GroupResource extends Common {
  readonly kind: "group";
  readonly name: string;
  readonly system: boolean;
}

export interface UserResource extends Common {
  readonly kind: "user";
  readonly name: string;
  /** Somebody else makes this user: it is only looked for, and nothing else of it is compared. */
  readonly mustExist?: boolean;
  readonly system: boolean;
  readonly group: string;
  readonly groups: readonly string[];
  readonly home: string;
  readonly shell: string;
}

/** One key in its own drop-in under /etc/sysctl.d, and the running value. */
export interface SysctlResource extends Common {
  readonly kind: "sysctl";
  readonly key: string;
  readonly value: string;
}

/** A unit's state; its file, if ours, is a FileResource before it. Timers are units. */
export interface UnitResource extends Common {
  readonly kind: "unit";
  readonly name: string;
  readonly enabled: boolean | "masked";
  readonly running: boolean;
}

/** Options of a mount point in /etc/fstab and as mounted. */
export interface MountOptionResource extends Common {
  readonly kind: "mount-option";
  readonly mountPoint: string;
  readonly options: readonly string[];
}

/** A word of the kernel command line, in a drop-in of the boot loader; takes effect at the next boot. */
export interface KernelParameterResource extends Common {
  readonly kind: "kernel-parameter";
  readonly name: string;
  readonly value: string;
}

/** One directive of sshd, in our drop-in; compared with the effective configuration of `sshd -T`. */
export interface SshdOptionResource extends Common {
  readonly kind: "sshd-option";
  readonly name: string;
  readonly value: string;
}

/** A table of ours in nftables, file and running rule set. */
export interface NftTableResource extends Common {
  readonly kind: "nft-table";
  readonly family: "inet";
  readonly table: string;
  /** The table's text in nft's own format. */
  readonly rules: string;
}

export interface TimeZoneResource extends Common {
  readonly kind: "time-zone";
  readonly zone: string;
}

export type Resource =
  | FileResource
  | DirectoryResource
  | PackageResource
  | GroupResource
  | UserResource
  | SysctlResource
  | UnitResource
  | MountOptionResource
  | KernelParameterResource
  | SshdOptionResource
  | NftTableResource
  | TimeZoneResource;
