/**
 * A command of the user's ssh configuration in place of a TCP connection: its
 * standard input and output are the way to the ssh server. It lives as long as
 * the connection that goes over it, and in a process group of its own, so that
 * Ctrl-C is for us to act on, and so that what it started ends with it.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { Duplex } from "node:stream";
import { messageOf } from "../base/errors.ts";

/** What stands for the tokens of ssh_config(5) in a ProxyCommand. */
export interface ProxyValues {
  /** %h: the address to connect to. */
  readonly address: string;
  /** %n: the name as it was given. */
  readonly given: string;
  readonly port: number;
  readonly user: string;
  /** %k: the name that known_hosts is asked for. */
  readonly keyName: string;
}

/** How much of what it says on standard error is kept. */
const saidBytes = 2_000;
/** Time for it to end by itself once its input has ended, and then after SIGTERM. */
const graceMs = 500;

/** Those that run; they end with this program, whatever way it ends. */
const running = new Set<ProxyCommand>();
process.once("exit", () => {
  for (const one of running) one.kill("SIGKILL");
});

/** Fills in the tokens. A value that a shell could take for more than a word is refused. */
export function fillProxyCommand(
  command: string,
  { address, given, port, user, keyName }: ProxyValues,
): { readonly line: string } | { readonly refused: string } {
  const values: Readonly<Record<string, string>> = {
    h: address,
    n: given,
    p: String(port),
    r: user,
    k: keyName,
  };
  let refused: string | undefined;
  const line = command.replaceAll(/%(.?)/g, (token, letter: string) => {
    if (letter === "%") return "%";
    const value = values[letter];
    if (value === undefined)
      refused ??= `the ProxyCommand of the ssh configuration has ${token}, which is not supported`;
    // Brackets and colons are those of an IPv6 address or of [name]:port.
    else if (!/^[\w[][\w.:@[\]-]*$/.test(value))
      refused ??= `${JSON.stringify(value)} cannot stand in the ProxyCommand of the ssh configuration`;
    return value ?? "";
  });
  return refused === undefined ? { line } : { refused };
}

export class ProxyCommand {
  /** What the ssh connection goes over. */
  readonly stream: Duplex;
  readonly #child: ChildProcess;
  readonly #ended: Promise<string>;
  #said = "";

  /** @param line a command line of the shell, all tokens filled in */
  constructor(line: string) {
    // As OpenSSH does it: the user's own shell, which the command takes the place of.
    const child = spawn(process.env.SHELL || "/bin/sh", ["-c", `exec ${line}`], {
      detached: true,
      stdio: ["pipe", "pipe", "pipe"],
    });
    this.#child = child;
    child.stderr.on("data", (chunk: Buffer) => {
      this.#said = (this.#said + chunk.toString("utf8")).slice(-saidBytes);
    });
    // A broken pipe is told by the end of the command.
    child.stdin.on("error", () => {});
    this.#ended = new Promise((resolve) => {
      const end = (how: string) => {
        running.delete(this);
        // What it wrote last has been read; now the connection over it learns that it is gone.
        setImmediate(() => this.stream.destroy());
        const last = this.#said.trim().split("\n").at(-1)?.trim();
        resolve(`its ProxyCommand ${how}${last ? `: ${last}` : ""}`);
      };
      child.once("error", (error) => end(`could not be started: ${messageOf(error)}`));
      child.once("close", (code, signal) => end(`ended with ${signal ?? code}`));
    });
    running.add(this);
    this.stream = Duplex.from({ readable: child.stdout, writable: child.stdin });
    this.stream.on("error", () => {});
  }

  /** How it ended, in words; undefined while it runs, after a moment in which it could have ended. */
  async howItEnded(): Promise<string | undefined> {
    return Promise.race([this.#ended, later(graceMs).then(() => undefined)]);
  }

  /** Ends it and whatever it started. Safe to call twice. */
  async end(): Promise<void> {
    this.stream.destroy();
    this.#child.stdin?.destroy();
    for (const signal of ["SIGTERM", "SIGKILL"] as const) {
      await this.howItEnded();
      if (!running.has(this)) return;
      this.kill(signal);
    }
  }

  kill(signal: NodeJS.Signals): void {
    const { pid } = this.#child;
    if (pid === undefined || !running.has(this)) return;
    try {
      process.kill(-pid, signal);
    } catch {
      // It ended a moment ago.
    }
  }
}

/** Keeps nobody's program alive. */
function later(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
