/** Options of every command that connects to hosts, and the connector they come to. */
import { setMaxListeners } from "node:events";
import { type Command, InvalidArgumentError } from "commander";
import type { Connect, RemoteTarget } from "../../remote/remote.ts";
import { askSecret } from "./ask.ts";

export interface ReachOptions {
  readonly forks?: number;
  readonly askSudoPassword?: boolean;
}

/** Adds `--forks N` and `--ask-sudo-password`. */
export function withReachOptions(command: Command): Command {
  return command
    .option("--forks <n>", "how many hosts at once", wholeNumber)
    .option("-K, --ask-sudo-password", "ask for the sudo password of hosts without a sudoPasswordFile");
}

export interface Reach {
  readonly connect: Connect;
  readonly concurrency: number;
  /** Fires at the first Ctrl-C or SIGTERM; the second one ends the program at once. */
  readonly signal: AbortSignal;
}

/** @throws E_USAGE when a password is to be asked for and there is no terminal */
export async function connectionFor(options: ReachOptions): Promise<Reach> {
  const { connector } = await import("../../remote/connect.ts");
  const { hostsAtOnce } = await import("../../remote/fleet.ts");
  // Asked once, before the first connection, and kept in memory only.
  const password = options.askSudoPassword ? await sudoPassword() : undefined;
  const signal = stopSignal();
  return {
    connect: connector({
      signal,
      ...(password !== undefined && { sudoPassword: async (_: RemoteTarget) => password }),
    }),
    concurrency: options.forks ?? hostsAtOnce,
    signal,
  };
}

// A command that looks again and again reaches its hosts anew each time: one question, one pair of listeners.
let asked: Promise<string> | undefined;
let stop: AbortController | undefined;

function sudoPassword(): Promise<string> {
  asked ??= askSecret("sudo password: ");
  return asked;
}

function stopSignal(): AbortSignal {
  if (stop === undefined) {
    const controller = new AbortController();
    // Every connection listens.
    setMaxListeners(0, controller.signal);
    for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => controller.abort());
    stop = controller;
  }
  return stop.signal;
}

function wholeNumber(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > 1_000)
    throw new InvalidArgumentError("must be a whole number from 1 to 1000");
  return value;
}
