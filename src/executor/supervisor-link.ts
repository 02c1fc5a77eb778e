/**
 * The executor's end of the pipe to its supervisor: starts it, speaks to it,
 * and notices when it is dead or does not answer any more.
 */
import { type ChildProcess, spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { EscapementError } from "../base/errors.ts";
import { LineSplitter } from "../base/lines.ts";
import { monotonicMs } from "../base/monotonic.ts";
import { parseLine, type SupervisorCommand, type SupervisorEvent, toLine } from "./supervisor/protocol.ts";

/** The environment entry by which a later executor finds a supervisor that was left behind. */
export function supervisorMark(pid: number, processStart: string): string {
  return `ESCAPEMENT_SUPERVISOR_OF=${pid}:${processStart}`;
}

export interface LinkPorts {
  readonly onEvent: (event: SupervisorEvent) => void;
  /** Called once: it ended, or did not answer and was killed. */
  readonly onDeath: (reason: string) => void;
}

/** From start to `hello`; after a grant, how long an answer may take. */
const helloLimitMs = 15_000;
const secondLookMs = 250;

export class SupervisorLink {
  readonly #process: ChildProcess;
  readonly #ports: LinkPorts;
  #offsetMs = 0;
  #dead = false;
  #serial = 0;
  #unanswered: { serial: number; sinceMs: number } | undefined;

  private constructor(process: ChildProcess, ports: LinkPorts) {
    this.#process = process;
    this.#ports = ports;
  }

  /**
   * Starts a supervisor and waits for its first word. @throws E_UNAVAILABLE
   * @param command the program, for example `node escapement.mjs executor-supervisor`
   * @param mark see {@link supervisorMark}
   */
  static async start(
    command: readonly [string, ...string[]],
    mark: string,
    ports: LinkPorts,
  ): Promise<SupervisorLink> {
    const [name, value] = mark.split("=") as [string, string];
    const child = spawn(command[0], command.slice(1), {
      detached: true,
      env: { ...environmentOfSupervisor(), [name]: value },
      stdio: ["pipe", "ignore", "inherit", "pipe"],
    });
    const link = new SupervisorLink(child, ports);
    await link.#greeting();
    return link;
  }

  get pid(): number {
    return this.#process.pid!;
  }

  /** An instant of our monotonic clock, by the supervisor's; a little early, never late. */
  toSupervisorClock(instantMs: number): number {
    return instantMs + this.#offsetMs;
  }

  send(command: SupervisorCommand): void {
    if (!this.#dead) this.#process.stdin!.write(toLine(command));
  }

  /** Grants deadlines, by our clock. A supervisor that has not answered the last grant for `answerLimitMs` is killed. */
  grant(
    deadlines: readonly (readonly [id: number, deadlineMs: number | null])[],
    answerLimitMs: number,
  ): void {
    const now = monotonicMs();
    const waiting = this.#unanswered;
    if (waiting && now - waiting.sinceMs > answerLimitMs) {
      // We may have been stopped ourselves: first hear what is in the pipe.
      setTimeout(() => {
        if (this.#unanswered === waiting)
          this.#die(`it has not answered for ${Math.round(now - waiting.sinceMs)} ms`);
      }, secondLookMs);
    }
    const serial = ++this.#serial;
    this.#unanswered ??= { serial, sinceMs: now };
    this.send({
      op: "grant",
      serial,
      deadlines: deadlines.map(([id, deadlineMs]) => [
        id,
        deadlineMs === null ? null : this.toSupervisorClock(deadlineMs),
      ]),
    });
  }

  /** Ends it, and with it every child; the death is not reported. */
  close(): void {
    this.#dead = true;
    this.#process.stdin!.end();
  }

  #greeting(): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#process.kill("SIGKILL");
        gone("it did not say hello in time");
      }, helloLimitMs);
      let greeted = false;
      const lines = new LineSplitter();
      const events = this.#process.stdio[3] as Readable | null;
      events?.setEncoding("utf8").on("data", (text: string) => {
        for (const line of lines.push(text)) {
          const event = parseLine<SupervisorEvent>(line);
          if (event.event === "hello") {
            clearTimeout(timer);
            greeted = true;
            this.#offsetMs = event.monotonicMs - monotonicMs();
            resolve();
          } else this.#hear(event);
        }
      });
      events?.on("error", () => {});
      this.#process.stdin?.on("error", () => {});
      this.#process.once("error", (error) => gone(error.message));
      this.#process.once("exit", (code, signal) => gone(`it ended with ${signal ?? `code ${code}`}`));
      const gone = (reason: string) => {
        clearTimeout(timer);
        if (!greeted) reject(cannotStart(reason));
        else this.#die(reason);
      };
    });
  }

  #hear(event: SupervisorEvent): void {
    if (event.event === "granted") {
      // The reading that travelled fastest is the nearest to the truth.
      this.#offsetMs = Math.max(this.#offsetMs, event.monotonicMs - monotonicMs());
      if (this.#unanswered && event.serial >= this.#unanswered.serial) this.#unanswered = undefined;
      return;
    }
    if (!this.#dead) this.#ports.onEvent(event);
  }

  #die(reason: string): void {
    if (this.#dead) return;
    this.#dead = true;
    this.#process.kill("SIGKILL");
    this.#ports.onDeath(reason);
  }
}

function cannotStart(reason: string): EscapementError {
  return new EscapementError("E_UNAVAILABLE", {
    what: `the supervisor cannot be started: ${reason}`,
    hint: "check memory, process limits and the program's files",
  });
}

/** No store URL, and nothing else that it does not need. */
function environmentOfSupervisor(): Record<string, string> {
  const kept = ["PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "LD_PRELOAD", "NODE_OPTIONS"];
  const kin = /^FAKETIME/;
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      value !== undefined && (kept.includes(name) || kin.test(name)) ? [[name, value]] : [],
    ),
  );
}
