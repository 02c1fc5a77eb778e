/**
 * Runs a command under a lease: renewed while it runs, killed before it ends.
 *
 *   start ──▶ running ──command ends──▶ ended
 *                │ lease can not be renewed ──▶ killed ──▶ lost
 *                │ signal to us ──▶ passed on ──▶ ended (interrupted)
 *                └ the supervisor dies ──▶ group killed ──▶ lost
 */
import type { ChildProcess } from "node:child_process";
import { constants } from "node:os";
import { LeaseKeeper, trustMarginMs } from "./lease-keeper.ts";
import { type SupervisorOrder, type SupervisorReport, startSupervisor } from "./supervisor.ts";
import { timer } from "./timer.ts";

export interface CommandRunOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly leaseMs: number;
  /** When (monotonic) the request that got the lease was sent. */
  readonly sentAtMs: number;
  /** After a signal to us: how long the command may take to end before it is killed. */
  readonly graceMs: number;
  renew(): Promise<boolean>;
}

export type CommandEnd =
  | {
      readonly kind: "ended";
      readonly exitCode: number;
      readonly signal: NodeJS.Signals | null;
      readonly left: boolean;
    }
  /** It never ran. */
  | { readonly kind: "not-started"; readonly code: string; readonly message: string }
  /** We were told to stop, and it was stopped. */
  | { readonly kind: "interrupted"; readonly by: NodeJS.Signals; readonly exitCode: number }
  /** The lease was lost; the command was killed before it ended. */
  | { readonly kind: "lost"; readonly reason: string };

/** Exit code of a command that a signal ended, as shells count. */
const signalBase = 128;
const passedOn: readonly NodeJS.Signals[] = ["SIGINT", "SIGTERM", "SIGHUP"];

/** Resolves when nothing of the command is left running. */
export async function runCommand(options: CommandRunOptions): Promise<CommandEnd> {
  return await new CommandRun(options).result;
}

class CommandRun {
  readonly result: Promise<CommandEnd>;
  readonly #options: CommandRunOptions;
  readonly #supervisor: ChildProcess;
  readonly #keeper: LeaseKeeper;
  #settle: (end: CommandEnd) => void = () => {};
  #pid: number | undefined;
  #lost: string | undefined;
  #stoppedBy: NodeJS.Signals | undefined;
  #graceTimer: NodeJS.Timeout | undefined;
  #isSettled = false;

  constructor(options: CommandRunOptions) {
    this.#options = options;
    this.result = new Promise((resolve) => {
      this.#settle = resolve;
    });
    this.#supervisor = startSupervisor();
    this.#keeper = new LeaseKeeper({
      leaseMs: options.leaseMs,
      renew: options.renew,
      onTrusted: (trustUntilMs) =>
        this.#order({ termAtMs: trustUntilMs, killAtMs: trustUntilMs + trustMarginMs(options.leaseMs) / 2 }),
      onLost: (reason) => this.#onLost(reason),
    });
    for (const signal of passedOn) process.on(signal, this.#onSignal);
    this.#supervisor.on("message", (report) => this.#onReport(report as SupervisorReport));
    this.#supervisor.on("error", (error) =>
      this.#end({ kind: "not-started", code: "SUPERVISOR", message: error.message }),
    );
    this.#supervisor.on("exit", () => this.#onSupervisorGone());
    this.#keeper.start(options.sentAtMs);
    this.#order({ start: { command: options.command, args: options.args, env: options.env } });
  }

  #order(order: SupervisorOrder): void {
    if (this.#supervisor.connected) this.#supervisor.send(order, () => {});
  }

  #onReport(report: SupervisorReport): void {
    if ("started" in report) this.#pid = report.started;
    else if ("failed" in report) this.#end({ kind: "not-started", ...report.failed });
    else if ("stopping" in report) this.#lost ??= "it could not be renewed before its deadline";
    else this.#onEnded(report.ended.code, report.ended.signal, report.ended.left);
  }

  #onEnded(code: number | null, signal: NodeJS.Signals | null, left: boolean): void {
    const exitCode = code ?? signalBase + (signal === null ? 0 : constants.signals[signal]);
    if (this.#lost !== undefined) this.#end({ kind: "lost", reason: this.#lost });
    else if (this.#stoppedBy !== undefined) this.#end({ kind: "interrupted", by: this.#stoppedBy, exitCode });
    else this.#end({ kind: "ended", exitCode, signal, left });
  }

  /** The supervisor kills at its deadline by itself; this is the second hand on the same brake. */
  #onLost(reason: string): void {
    this.#lost ??= reason;
    this.#killGroup("SIGTERM");
    setTimeout(() => this.#killGroup("SIGKILL"), trustMarginMs(this.#options.leaseMs) / 2);
  }

  readonly #onSignal = (signal: NodeJS.Signals): void => {
    this.#stoppedBy ??= signal;
    this.#order({ signal });
    this.#graceTimer ??= timer(() => this.#killGroup("SIGKILL"), this.#options.graceMs);
  };

  /** Its last report may still be on the way; without one, the command has lost its keeper and is killed. */
  #onSupervisorGone(): void {
    setTimeout(() => {
      if (this.#isSettled) return;
      this.#killGroup("SIGKILL");
      this.#end({ kind: "lost", reason: "the process that watches the command was killed" });
    }, 50);
  }

  #killGroup(signal: NodeJS.Signals): void {
    if (this.#pid === undefined || this.#isSettled) return;
    try {
      process.kill(-this.#pid, signal);
    } catch {
      // Nobody left in the group.
    }
  }

  #end(end: CommandEnd): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#keeper.stop();
    clearTimeout(this.#graceTimer);
    for (const signal of passedOn) process.off(signal, this.#onSignal);
    if (this.#supervisor.connected) this.#supervisor.disconnect();
    this.#settle(end);
  }
}
