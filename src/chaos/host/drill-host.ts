/**
 * What the controller of a drill may ask of a host. The host does the drill by
 * itself: it is given one signed order, and from then on the controller only
 * watches. Implemented over ssh with a forced command; tests implement it with
 * processes and signals.
 *
 *   begin ──▶ armed ──▶ injected ──▶ holding ──▶ restored ──▶ audited ──▶ ended
 *     └─ refused           └────────── halt, abort, dead-man ─────▲
 */

/** What can be done to a host. Every fault has a way back that the host knows before it begins. */
export type FaultKind =
  /** SIGKILL to the main process of a unit. */
  | "kill"
  /** Stop of a unit, as an operator would do it. */
  | "stop"
  /** SIGSTOP to the main process of a unit, SIGCONT at the end. */
  | "pause"
  /** Packets dropped, by address, in a table of our own. */
  | "cut"
  /** The wall clock moved. */
  | "clock"
  /** Reset without a shutdown. */
  | "power"
  /** A file system filled up to a reserve. */
  | "fill-disk"
  /** Memory of a unit limited below what it uses. */
  | "memory-limit";

/** One drill on one host, whole: the host needs nothing else to begin, end and clean up. */
export interface DrillOrder {
  /** Lower-case uuid of the run. */
  readonly run: string;
  readonly host: string;
  /** The boot the order is for; a host that has rebooted since refuses it. */
  readonly bootId: string;
  readonly fault: FaultKind;
  /** systemd unit, for kill, stop, pause and memory-limit. */
  readonly unit?: string;
  /** kill, stop: the unit is kept from starting again until the restore. */
  readonly keepDown?: boolean;
  /** cut: `both` ways, or `receive`: what comes in is dropped and what goes out still leaves. */
  readonly direction?: "both" | "receive";
  /** cut: addresses that stay reachable; the controller's and the ssh client's are added by the host. */
  readonly keep?: readonly string[];
  /** clock: seconds, negative is back. */
  readonly offsetSeconds?: number;
  /** fill-disk: the directory whose file system is filled, and the bytes that stay free. */
  readonly path?: string;
  readonly reserveBytes?: number;
  /** memory-limit: bytes. */
  readonly limitBytes?: number;
  readonly holdSeconds: number;
  /** Counted from begin: the dead-men restore then, whatever happened. At least hold + 5. */
  readonly limitSeconds: number;
}

/** One line of the host's own record of a run. */
export interface DrillEvent {
  /** From 1, without gaps. */
  readonly seq: number;
  readonly event:
    | "armed"
    | "injected"
    | "holding"
    | "proof"
    | "abort"
    | "restored"
    | "audit"
    | "ended"
    | "refused";
  /** The host's wall clock, milliseconds since 1970: wrong while a clock drill lasts. */
  readonly wallMs: number;
  /** Milliseconds since the host's boot: right always. */
  readonly bootMs: number;
  /** Facts of the event: pid before and after, counters, offset, what was left behind. */
  readonly detail: Readonly<Record<string, string | number | boolean>>;
}

export type DrillRunState = "none" | "running" | "restoring" | "ended" | "lost";

export interface DrillProgress {
  readonly state: DrillRunState;
  readonly events: readonly DrillEvent[];
}

/** Something of a drill that is still there, or something that was there before and is not. */
export interface Residue {
  readonly what: string;
  readonly detail: string;
}

/** The audit could not look at `unseen`; an empty list and no residue is a clean host. */
export interface ResidueAudit {
  readonly residue: readonly Residue[];
  readonly unseen: readonly string[];
}

/** What preflight and proof need to know, read in one trip. */
export interface HostLook {
  readonly bootId: string;
  readonly wallMs: number;
  readonly bootMs: number;
  /** Half of the trip, milliseconds: how wrong the comparison of two clocks can be. */
  readonly uncertaintyMs: number;
  readonly addresses: readonly string[];
  readonly units: Readonly<
    Record<
      string,
      {
        readonly active: string;
        readonly mainPid: number;
        readonly processState: string;
        readonly restarts: number;
      }
    >
  >;
  /** The time daemon: its name, whether it runs, its own claim of synchronisation. */
  readonly timeDaemon:
    | { readonly name: string; readonly running: boolean; readonly synchronised: boolean | undefined }
    | undefined;
  readonly freeBytes: Readonly<Record<string, number>>;
  /** Which faults this host can do, and why not the others (`needs-vm: …`). */
  readonly can: Readonly<Partial<Record<FaultKind, true | string>>>;
  /** Why a drill should not be begun there now: it is overloaded, or short of memory. */
  readonly trouble?: string;
  /** A run that is on right now. */
  readonly running: string | undefined;
}

/** A TCP port of another host. */
export interface Peer {
  readonly address: string;
  readonly port: number;
}

/** `answers`: a connection was made, or refused; `silent`: nothing came back; `unknown`: it could not be tried. */
export type PeerAnswer = "answers" | "silent" | "unknown";

export interface DrillHost {
  readonly host: string;
  look(units: readonly string[], paths?: readonly string[]): Promise<HostLook>;
  /** Whether the peer answers this host. To know of silence takes some seconds. */
  reach(peer: Peer): Promise<PeerAnswer>;
  /** Rejects with E_DRILL_REFUSED and the host's reason; once it resolves, the host is on its own. */
  begin(order: DrillOrder): Promise<void>;
  progress(run: string, afterSeq?: number): Promise<DrillProgress>;
  /** Restores whatever drill is on, at once; needs no token. Resolves when the host says it is restored. */
  halt(): Promise<{ readonly halted: boolean; readonly restoredMs: number }>;
  audit(): Promise<ResidueAudit>;
  close(): Promise<void>;
}
