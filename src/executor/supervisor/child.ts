/**
 * One child in a process group of its own, from start to end.
 *
 *   starting ──▶ running ──exits──▶ sweeping its group ──▶ ended
 *      │            ├─ timeout, stop ─▶ SIGTERM ─ later ─▶ SIGKILL
 *      │            └─ deadline, kill ─▶ SIGKILL
 *      └─ cannot be started ──▶ ended, with the error
 *
 * "Ended" is told only when nothing of its process group is left.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { StringDecoder } from "node:string_decoder";
import { messageOf } from "../../base/errors.ts";
import { LineSplitter } from "../../base/lines.ts";
import { monotonicMs, sleep } from "../../base/monotonic.ts";
import { killMarked, signalGroup } from "../leftovers.ts";
import type { JobLog } from "./job-log.ts";
import {
  type EndCause,
  type EndedEvent,
  hostFault,
  type StartCommand,
  type SupervisorEvent,
} from "./protocol.ts";
import { complaintOf, endScope, scopeEnd, signalScope, startScope } from "./scope-run.ts";

/** A line of output longer than this is cut. */
const longestLine = 64 * 1024;
/** How long the last output is waited for after the end. */
const outputGraceMs = 500;
const sweepAfterMs = 20;

export interface ChildPorts {
  readonly log: JobLog;
  readonly tell: (event: SupervisorEvent) => void;
  readonly onGroup: (group: number) => void;
  readonly onEnd: (child: Child) => void;
}

export class Child {
  readonly id: number;
  readonly #order: StartCommand;
  readonly #ports: ChildPorts;
  #process: ChildProcess | undefined;
  #cause: EndCause | null = null;
  #deadlineMs: number | null;
  #deadlineTimer: NodeJS.Timeout | undefined;
  #timers = new Set<NodeJS.Timeout>();
  #sweep: Promise<unknown> | undefined;
  #ended = false;
  /** Why no scope was started. */
  #complaint: string | undefined;

  constructor(order: StartCommand, ports: ChildPorts) {
    this.id = order.id;
    this.#order = order;
    this.#ports = ports;
    this.#deadlineMs = order.deadlineMs;
  }

  start(): void {
    const { workingDirectory, ownsDirectory, command, environment, scope } = this.#order;
    if (this.#deadlineMs !== null && this.#deadlineMs <= monotonicMs()) {
      this.#cause = "deadline";
      this.#tellEnd({ code: null, signal: null, error: null });
      return;
    }
    let error: string | undefined;
    try {
      if (ownsDirectory) makeFolder(workingDirectory);
      this.#process = scope
        ? startScope(scope, command, environment)
        : spawn(command[0]!, command.slice(1), {
            cwd: workingDirectory,
            env: environment,
            detached: true,
            stdio: ["ignore", "pipe", "pipe"],
          });
    } catch (thrown) {
      error = messageOf(thrown);
    }
    const child = this.#process;
    if (!child?.pid) {
      if (child) child.once("error", (reason) => this.#cannotStart(this.#whyNot(reason)));
      else this.#cannotStart(error ?? "it did not start");
      return;
    }
    child.on("error", () => {});
    this.#ports.onGroup(child.pid);
    this.#ports.tell({ event: "started", id: this.id, pid: child.pid });
    this.#read(child);
    child.once("exit", (code, signal) => void this.#finish(child, code, signal));
    this.#after(this.#order.timeoutMs, () => this.stop("timeout", this.#order.killAfterMs));
    this.grant(this.#deadlineMs);
  }

  /** A new deadline; null: none. */
  grant(deadlineMs: number | null): void {
    this.#deadlineMs = deadlineMs;
    clearTimeout(this.#deadlineTimer);
    if (deadlineMs === null || this.#ended) return;
    // A timer may fire a millisecond early; the check then simply sets it again.
    const left = Math.min(deadlineMs - monotonicMs(), 2 ** 31 - 1);
    if (left <= 0) this.kill("deadline");
    else this.#deadlineTimer = setTimeout(() => this.grant(this.#deadlineMs), left);
  }

  /** SIGTERM now, SIGKILL after `killAfterMs`. */
  stop(cause: EndCause, killAfterMs: number): void {
    this.#cause ??= cause;
    this.#signal("SIGTERM");
    this.#after(killAfterMs, () => this.kill(cause));
  }

  kill(cause: EndCause): void {
    this.#cause ??= cause;
    if (this.#signal("SIGKILL")) this.#sweepLeftovers();
  }

  #sweepLeftovers(): void {
    if (this.#sweep) return;
    const { scope } = this.#order;
    if (scope) {
      this.#sweep = endScope(scope);
      return;
    }
    // Processes that left the group (setsid) still carry the attempt's token.
    const token = `ESCAPEMENT_FENCE_TOKEN=${this.#order.environment.ESCAPEMENT_FENCE_TOKEN}`;
    const incarnation = `ESCAPEMENT_INCARNATION=${this.#order.environment.ESCAPEMENT_INCARNATION}`;
    // Later, so that searching does not keep other children, due at the same instant, from their end.
    this.#sweep = sleep(sweepAfterMs).then(() => killMarked([incarnation, token], 2_000));
  }

  get group(): number | undefined {
    return this.#process?.pid;
  }

  #signal(name: NodeJS.Signals): boolean {
    if (this.#order.scope && this.#process) return !this.#ended && signalScope(this.#process, name);
    const group = this.group;
    return group !== undefined && !this.#ended && signalGroup(group, name);
  }

  #after(ms: number, action: () => void): void {
    const untilMs = monotonicMs() + ms;
    const arm = () => {
      const left = untilMs - monotonicMs();
      if (left <= 0) return action();
      const timer = setTimeout(
        () => {
          this.#timers.delete(timer);
          arm();
        },
        Math.min(left, 2 ** 31 - 1),
      );
      this.#timers.add(timer);
    };
    arm();
  }

  #read(child: ChildProcess): void {
    const { log, tell } = this.#ports;
    for (const name of ["stdout", "stderr"] as const) {
      const stream = child[name]!;
      const decoder = new StringDecoder("utf8");
      stream.on("error", () => {});
      if (name === "stdout" && this.#order.capture) {
        const pass = (text: string) => text !== "" && tell({ event: "output", id: this.id, text });
        stream.on("data", (piece: Buffer) => pass(decoder.write(piece)));
        stream.on("end", () => pass(decoder.end()));
        continue;
      }
      const lines = new LineSplitter(longestLine);
      const mark = name === "stdout" ? "out" : "err";
      stream.on("data", (piece: Buffer) => {
        const whole = lines.push(decoder.write(piece));
        if (this.#order.scope && mark === "err") this.#complaint ??= whole.map(complaintOf).find(Boolean);
        this.#log(mark, whole);
        if (!log.isFull()) return;
        stream.pause();
        log.whenRoom(() => stream.resume());
      });
      stream.on("end", () => this.#log(mark, [...lines.push(decoder.end()), ...lines.end()]));
    }
  }

  /** A line that the child sent through the socket. */
  note(text: string): void {
    this.#log("log", text.split("\n"));
  }

  #log(mark: string, lines: readonly string[]): void {
    if (lines.length === 0) return;
    const head = `${new Date().toISOString()} ${this.#order.log.label} ${mark} | `;
    this.#ports.log.write(lines.map((line) => `${head}${line}\n`).join(""));
  }

  /** The kernel says "no such file" of a missing working directory, too, and Node then names the program. */
  #whyNot(reason: unknown): string {
    const { workingDirectory } = this.#order;
    return (reason as NodeJS.ErrnoException).code === "ENOENT" && !existsSync(workingDirectory)
      ? `the working directory ${workingDirectory} does not exist`
      : messageOf(reason);
  }

  #cannotStart(reason: string): void {
    this.#tellEnd({ code: null, signal: null, error: reason });
  }

  async #finish(child: ChildProcess, code: number | null, signal: NodeJS.Signals | null): Promise<void> {
    const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
    // What the command started and did not wait for ends with it.
    if (this.#order.scope) {
      // It ends its scope itself, unless it was killed.
      if (signal !== null) this.#sweepLeftovers();
    } else signalGroup(child.pid!, "SIGKILL");
    // One that we stopped may have ended politely and left others behind.
    if (this.#cause !== null) this.#sweepLeftovers();
    await this.#sweep;
    let timer: NodeJS.Timeout | undefined;
    await Promise.race([closed, new Promise((resolve) => (timer = setTimeout(resolve, outputGraceMs)))]);
    clearTimeout(timer);
    child.stdout?.destroy();
    child.stderr?.destroy();
    this.#tellEnd(
      this.#order.scope ? scopeEnd(code, signal, this.#complaint) : { code, signal, error: null },
    );
  }

  #tellEnd(end: Pick<EndedEvent, "code" | "signal" | "error">): void {
    if (this.#ended) return;
    this.#ended = true;
    clearTimeout(this.#deadlineTimer);
    for (const timer of this.#timers) clearTimeout(timer);
    if (this.#order.ownsDirectory) this.#removeDirectory();
    this.#ports.onEnd(this);
    this.#ports.tell({ event: "ended", id: this.id, cause: this.#cause, ...end });
  }

  #removeDirectory(): void {
    try {
      rmSync(this.#order.workingDirectory, { recursive: true, force: true });
    } catch {
      // Scratch space; whatever cannot be removed now is of no use to anybody.
    }
  }
}

/** A folder that cannot be made is the host's fault, not the job's; the error says so by its beginning. */
function makeFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new Error(`${hostFault}${messageOf(error)}`);
  }
}
