/**
 * The only way to a host. Three implementations pass the same conformance
 * suite: ssh, local (this machine) and fake (in memory, with a simulated
 * network). Nothing above this line knows which one it talks to.
 */

/** One command on a host. Exactly what is passed is run: no login shell, no profile, no pseudo-terminal. */
export interface ExecRequest {
  /** Program and arguments, quoted for the remote shell by the implementation. */
  readonly argv: readonly string[];
  /**
   * The host runs one program whatever it is asked (a forced command), which reads the words itself:
   * they are sent as they are, with single blanks between them, and no shell of ours around them.
   * The words must be plain. Over ssh only; the deadline is kept on this side alone.
   */
  readonly forced?: boolean;
  /** Written to the command's standard input, which is then closed. Never shown in a process list. */
  readonly stdin?: string | Uint8Array;
  /** In place of `stdin`, which is not read then: what is written depends on what the command says. */
  readonly dialogue?: Dialogue;
  /** Run as root through sudo where the connection's user is not root. */
  readonly asRoot?: boolean;
  /** Milliseconds on the monotonic clock from the request to the end; then the command is killed. */
  readonly deadlineMs: number;
  /** Output above this many bytes a stream is dropped and `truncated` is set. Default 16 MiB. */
  readonly maxOutputBytes?: number;
}

/**
 * Talks with a command while it runs. Told each piece of its standard output as it comes, cut anywhere
 * but within a character, and also what is beyond `maxOutputBytes`; the first call is with "", once what
 * is written can reach nobody but the command (sudo has been answered, and no shell of a login reads it).
 * The command itself may need some time yet until it reads.
 *
 * Returns what to write next, "" for nothing, or null to close the command's input: then it is not called
 * any more. One that never returns null leaves the input open, until the command ends or its time is up.
 * What it throws ends the command, and `exec` rejects with it.
 */
export type Dialogue = (piece: string) => string | null;

/** A command that ran to an end. A non-zero exit is a result, not an error. */
export interface ExecResult {
  /** `null` where a signal ended it. */
  readonly exitCode: number | null;
  readonly signal?: string;
  readonly stdout: string;
  readonly stderr: string;
  readonly truncated: boolean;
  readonly durationMs: number;
}

/** A file to put on a host: written beside its place, checked, made durable, then renamed. */
export interface UploadRequest {
  readonly content: { readonly file: string } | { readonly bytes: Uint8Array };
  readonly path: string;
  /** Permission bits, for example 0o644. */
  readonly mode: number;
  /** Lower-case hex. The host's own sum must be equal before the rename. */
  readonly sha256: string;
  readonly asRoot?: boolean;
  readonly deadlineMs: number;
}

/**
 * A connection to one host. Every method rejects with an EscapementError of a
 * code that `remoteFailure()` (failure.ts) turns into a per-host result:
 * E_HOST_UNREACHABLE, E_HOST_KEY_UNKNOWN, E_HOST_KEY_CHANGED, E_HOST_KEY_REVOKED,
 * E_HOST_AUTH, E_HOST_SUDO, E_HOST_TIMEOUT, E_HOST_LOST, E_HOST_UPLOAD.
 */
export interface Remote {
  /** The name by which the inventory calls the host. */
  readonly host: string;
  exec(request: ExecRequest): Promise<ExecResult>;
  upload(request: UploadRequest): Promise<void>;
  /** Ends every open channel. Safe to call twice. */
  close(): Promise<void>;
}

/** Where and as whom a host is reached, as the inventory says it. */
export interface RemoteTarget {
  readonly host: string;
  readonly address: string;
  readonly port: number;
  readonly user: string;
  /** Absolute paths of private keys, tried in order; the agent of SSH_AUTH_SOCK is tried first. */
  readonly identityFiles: readonly string[];
  /** Absolute paths of known_hosts files, read in order. */
  readonly knownHostsFiles: readonly string[];
  /** Targets to go through, the nearest first. */
  readonly jump: readonly RemoteTarget[];
  /** A file with the sudo password, readable by its owner only; never on a command line. */
  readonly sudoPasswordFile?: string;
  readonly connectTimeoutMs: number;
  /** This machine, without ssh. */
  readonly connection?: "local";
  /** What the inventory left open: the user's own ssh configuration may say it, else the value here holds. */
  readonly defaulted?: readonly ("user" | "port" | "jump")[];
}

/** Opens a connection, or rejects with one of the errors above before anything is sent that matters. */
export type Connect = (target: RemoteTarget) => Promise<Remote>;
