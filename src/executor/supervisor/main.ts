/**
 * The supervisor: the process that owns the children of one executor.
 *
 * Commands come on standard input, events go to descriptor 3 (standard output
 * would block us while the executor is stopped). When standard input ends the
 * executor is gone: every group is killed at once. Signals to the supervisor
 * itself are ignored, so that a SIGTERM to everything on the host still lets
 * the executor drain.
 */
import { Socket } from "node:net";
import { LineSplitter } from "../../base/lines.ts";
import { monotonicMs } from "../../base/monotonic.ts";
import { killMarked, signalGroup } from "../leftovers.ts";
import { Child } from "./child.ts";
import { JobLog } from "./job-log.ts";
import { LastWatch } from "./last-watch.ts";
import {
  type LogTarget,
  parseLine,
  type StartCommand,
  type SupervisorCommand,
  type SupervisorEvent,
  toLine,
} from "./protocol.ts";

/** The descriptor that events are written to. */
export const eventDescriptor = 3;
/** How long the end of killed children is waited for after the executor's death. */
const farewellMs = 5_000;

/** Runs until standard input ends, then exits the process. */
export function runSupervisor(): void {
  new Supervisor().run();
}

class Supervisor {
  readonly #children = new Map<number, Child>();
  readonly #logs = new Map<string, JobLog>();
  readonly #lastWatch = new LastWatch();
  readonly #incarnations = new Set<string>();
  readonly #events = new Socket({ fd: eventDescriptor, readable: false, writable: true });

  run(): void {
    for (const name of ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"] as const) process.on(name, () => {});
    this.#events.on("error", () => {});
    const lines = new LineSplitter();
    process.stdin.setEncoding("utf8");
    process.stdin.on("data", (text: string) => {
      for (const line of lines.push(text)) this.#obey(parseLine<SupervisorCommand>(line));
    });
    process.stdin.on("end", () => void this.#orphaned());
    process.stdin.on("error", () => void this.#orphaned());
    this.#tell({ event: "hello", pid: process.pid, monotonicMs: monotonicMs() });
  }

  #obey(command: SupervisorCommand): void {
    if (command.op === "start") this.#start(command);
    else if (command.op === "grant") {
      for (const [id, deadlineMs] of command.deadlines) this.#children.get(id)?.grant(deadlineMs);
      this.#tell({ event: "granted", serial: command.serial, monotonicMs: monotonicMs() });
    } else {
      const child = this.#children.get(command.id);
      if (command.op === "stop") child?.stop("stop", command.killAfterMs);
      else if (command.op === "kill") child?.kill("kill");
      else child?.note(command.text);
    }
  }

  #start(command: StartCommand): void {
    const child = new Child(command, {
      log: this.#openLog(command.log),
      tell: (event) => this.#tell(event),
      onGroup: (group) => this.#lastWatch.add(group),
      onEnd: (ended) => this.#forget(ended, command.log),
    });
    this.#incarnations.add(command.environment.ESCAPEMENT_INCARNATION ?? "");
    this.#children.set(command.id, child);
    child.start();
  }

  #openLog(target: LogTarget): JobLog {
    let log = this.#logs.get(target.file);
    if (!log) {
      log = new JobLog(target, (reason, droppedBytes) =>
        this.#tell({ event: "log-trouble", file: target.file, reason, droppedBytes }),
      );
      this.#logs.set(target.file, log);
    }
    log.open();
    return log;
  }

  #forget(child: Child, target: LogTarget): void {
    this.#children.delete(child.id);
    if (child.group !== undefined) this.#lastWatch.remove(child.group);
    const log = this.#logs.get(target.file);
    void log?.release().then((used) => {
      if (!used && this.#logs.get(target.file) === log) this.#logs.delete(target.file);
    });
  }

  async #orphaned(): Promise<void> {
    // First the groups, at once; then whatever left its group.
    for (const child of this.#children.values()) {
      if (child.group !== undefined) signalGroup(child.group, "SIGKILL");
    }
    await Promise.all(
      [...this.#incarnations].map((one) => killMarked([`ESCAPEMENT_INCARNATION=${one}`], farewellMs)),
    );
    process.exit(0);
  }

  #tell(event: SupervisorEvent): void {
    this.#events.write(toLine(event));
  }
}
