/**
 * What executor and supervisor say to each other: one JSON object a line.
 *
 * Deadlines are instants of the supervisor's monotonic clock. The executor
 * learns that clock from `hello` and `granted`: a reading is older than its
 * arrival, so a deadline moved over by the difference is early, never late. A duration
 * would be late by as long as the line waited in the pipe.
 */

/** How the error of a start begins that is this host's fault: it does not count as a try. */
export const hostFault = "this host cannot run it: ";

export interface LogTarget {
  readonly file: string;
  /** Stands before every line. */
  readonly label: string;
  readonly maxFileBytes: number;
  readonly keepFiles: number;
}

/** How an attempt is run in a systemd scope: what starts it (the command follows) and what ends it. */
export interface ScopeOrder {
  readonly start: readonly string[];
  readonly end: readonly string[];
  /** For a message, should it be killed from outside. */
  readonly about: string;
}

export interface StartCommand {
  readonly op: "start";
  readonly id: number;
  readonly command: readonly string[];
  readonly workingDirectory: string;
  /** The folder is this attempt's own: made before, removed after. */
  readonly ownsDirectory: boolean;
  readonly environment: Readonly<Record<string, string>>;
  /** Null: none. */
  readonly deadlineMs: number | null;
  readonly timeoutMs: number;
  /** From SIGTERM to SIGKILL, after the timeout. */
  readonly killAfterMs: number;
  readonly log: LogTarget;
  /** Null: as our own user, in a process group. */
  readonly scope: ScopeOrder | null;
  /** Standard output goes to the executor, not to the log. */
  readonly capture: boolean;
}

export type SupervisorCommand =
  | StartCommand
  | {
      readonly op: "grant";
      readonly serial: number;
      readonly deadlines: readonly (readonly [id: number, deadlineMs: number | null])[];
    }
  /** SIGTERM, then SIGKILL. */
  | { readonly op: "stop"; readonly id: number; readonly killAfterMs: number }
  | { readonly op: "kill"; readonly id: number }
  /** A line of the child's own log channel. */
  | { readonly op: "log"; readonly id: number; readonly text: string };

/** What the supervisor did to it, if anything. */
export type EndCause = "timeout" | "deadline" | "stop" | "kill";

export type SupervisorEvent =
  | { readonly event: "hello"; readonly pid: number; readonly monotonicMs: number }
  | { readonly event: "started"; readonly id: number; readonly pid: number }
  | {
      readonly event: "ended";
      readonly id: number;
      readonly code: number | null;
      readonly signal: NodeJS.Signals | null;
      readonly cause: EndCause | null;
      /** It could not be started at all, and why. */
      readonly error: string | null;
    }
  | { readonly event: "output"; readonly id: number; readonly text: string }
  | { readonly event: "granted"; readonly serial: number; readonly monotonicMs: number }
  | {
      readonly event: "log-trouble";
      readonly file: string;
      readonly reason: string;
      readonly droppedBytes: number;
    };
export type EndedEvent = Extract<SupervisorEvent, { event: "ended" }>;

/** Both ends are this program in the same version, on a private pipe: a line is taken as it is. */
export function parseLine<Message extends SupervisorCommand | SupervisorEvent>(line: string): Message {
  return JSON.parse(line) as Message;
}

export function toLine(message: SupervisorCommand | SupervisorEvent): string {
  return `${JSON.stringify(message)}\n`;
}
