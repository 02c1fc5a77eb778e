/**
 * One scheduler or executor of a local cluster, as a real process.
 *
 *   stopped ──start──▶ running ──stop (SIGTERM), kill──▶ stopped
 *                        │  ▲
 *                 freeze ▼  │ thaw
 *                       frozen ──kill──▶ stopped
 *
 * Every start is a new incarnation with a new pid; name, log file, way to the
 * store and clock stay.
 */
import { closeSync, existsSync, openSync, readFileSync } from "node:fs";
import { monotonicMs, sleep } from "../base/monotonic.ts";
import type { ProcessClock } from "./process-clock.ts";
import type { TcpProxy } from "./tcp-proxy.ts";
import { type ProcessExit, spawnTethered, type TetheredProcess } from "./tether.ts";

export type NodeRole = "scheduler" | "executor";

export interface NodeOptions {
  readonly name: string;
  readonly role: NodeRole;
  readonly command: readonly [program: string, ...args: string[]];
  /** The whole environment, without the clock's part. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly logFile: string;
  /** Its network to the store. */
  readonly proxy: TcpProxy;
  readonly clock: ProcessClock | undefined;
  /** Where it serves HTTP, if it does. */
  readonly httpUrl: string | undefined;
}

export class ClusterNode {
  readonly name: string;
  readonly role: NodeRole;
  readonly logFile: string;
  readonly proxy: TcpProxy;
  readonly clock: ProcessClock | undefined;
  readonly httpUrl: string | undefined;
  /** Pids of all its incarnations, the running one included. */
  readonly pids: number[] = [];
  readonly #options: NodeOptions;
  #process: TetheredProcess | undefined;
  #frozen = false;

  constructor(options: NodeOptions) {
    this.name = options.name;
    this.role = options.role;
    this.logFile = options.logFile;
    this.proxy = options.proxy;
    this.clock = options.clock;
    this.httpUrl = options.httpUrl;
    this.#options = options;
  }

  get state(): "stopped" | "running" | "frozen" {
    if (!this.#process || this.#process.exit) return "stopped";
    return this.#frozen ? "frozen" : "running";
  }

  get pid(): number | undefined {
    return this.state === "stopped" ? undefined : this.#process?.pid;
  }

  /** How its last incarnation ended; undefined while it runs. */
  get lastExit(): ProcessExit | undefined {
    return this.#process?.exit;
  }

  /** Starts a new incarnation, unless one is alive. Does not wait until it is ready. */
  async start(): Promise<void> {
    if (this.state !== "stopped") return;
    const log = openSync(this.logFile, "a", 0o644);
    try {
      this.#process = await spawnTethered({
        command: this.#options.command,
        environment: { ...this.#options.environment, ...this.clock?.environment },
        stdout: log,
        stderr: log,
      });
    } finally {
      closeSync(log);
    }
    this.#frozen = false;
    const { pid } = this.#process;
    this.pids.push(pid);
    this.#process.child.once("exit", () => this.clock?.forget(pid));
  }

  /** SIGTERM, then SIGKILL if it is still there after `graceMs`. */
  async stop(graceMs = 30_000): Promise<ProcessExit | undefined> {
    if (this.state === "stopped") return this.lastExit;
    this.thaw();
    this.#process!.kill("SIGTERM");
    const deadline = monotonicMs() + graceMs;
    while (this.#process!.exit === undefined && monotonicMs() < deadline) await sleep(20);
    return this.kill();
  }

  /** SIGKILL, frozen or not; returns when it is gone. */
  async kill(): Promise<ProcessExit | undefined> {
    this.#process?.kill("SIGKILL");
    return this.#process?.exited;
  }

  async restart(): Promise<void> {
    await this.kill();
    await this.start();
  }

  /** Any other signal; false when nothing runs. */
  signal(signal: NodeJS.Signals): boolean {
    return this.#process?.kill(signal) ?? false;
  }

  /** SIGSTOP: it does nothing any more and does not know it. */
  freeze(): void {
    if (this.signal("SIGSTOP")) this.#frozen = true;
  }

  thaw(): void {
    if (this.signal("SIGCONT")) this.#frozen = false;
  }

  /** The end of what all its incarnations wrote. */
  logTail(characters = 2_000): string {
    return existsSync(this.logFile) ? readFileSync(this.logFile, "utf8").slice(-characters) : "";
  }
}
