/** A host over ssh: one connection, at most eight commands on it at once, each with a deadline. */
import type { Client, ClientChannel } from "ssh2";
import { EscapementError, messageOf } from "../base/errors.ts";
import { type CommandCarrier, type CommandRequest, runCommand } from "./command-run.ts";
import type { Connect, ExecRequest, ExecResult, Remote, RemoteTarget, UploadRequest } from "./remote.ts";
import { type RouteOptions, routeTo } from "./route.ts";
import { loginShellLine } from "./shell-line.ts";
import { type Chain, openChain } from "./ssh-client.ts";
import { readSudoPassword } from "./sudo-password.ts";
import { Turnstile } from "./turnstile.ts";
import { uploadBy } from "./upload.ts";

/** OpenSSH allows ten sessions a connection unless told otherwise (MaxSessions). */
const channelsAtOnce = 8;

export interface SshOptions extends RouteOptions {
  /** Asked for hosts without a sudoPasswordFile; undefined: sudo must not ask. */
  readonly sudoPassword?: (target: RemoteTarget) => Promise<string | undefined>;
  /** When it fires, connections that are being made are given up. */
  readonly signal?: AbortSignal;
}

/** Makes a Connect that goes over ssh. */
export function sshConnector(options: SshOptions = {}): Connect {
  return async (target) => {
    const sudoPassword = (await readSudoPassword(target)) ?? (await options.sudoPassword?.(target));
    const route = await routeTo(target, options);
    const chain = await openChain(route, options);
    return new SshRemote(target.host, route.at(-1)!.user, chain, sudoPassword);
  };
}

class SshRemote implements Remote {
  readonly host: string;
  readonly #user: string;
  readonly #chain: Chain;
  readonly #sudoPassword: string | undefined;
  readonly #turnstile = new Turnstile(channelsAtOnce);
  /** Told when the connection is gone, with the reason. */
  readonly #onLost = new Set<(error: EscapementError) => void>();
  #lost: string | undefined;

  constructor(host: string, user: string, chain: Chain, sudoPassword: string | undefined) {
    this.host = host;
    this.#user = user;
    this.#chain = chain;
    this.#sudoPassword = sudoPassword;
    let said = "it closed the connection";
    chain.client.on("error", (error) => {
      said = messageOf(error);
    });
    chain.client.once("close", () => this.#loseAll(said));
  }

  exec(request: ExecRequest): Promise<ExecResult> {
    return this.#run(request);
  }

  async upload(request: UploadRequest): Promise<void> {
    await uploadBy((command) => this.#run(command), this.host, request);
  }

  async close(): Promise<void> {
    this.#loseAll("it was closed on this side");
    this.#chain.end();
  }

  #run(request: CommandRequest): Promise<ExecResult> {
    return runCommand(request, {
      host: this.host,
      user: this.#user,
      ...(this.#sudoPassword !== undefined && { sudoPassword: this.#sudoPassword }),
      start: (script, forced) => this.#start(forced ? script : loginShellLine(script)),
    });
  }

  #loseAll(reason: string): void {
    this.#lost ??= reason;
    for (const tell of [...this.#onLost]) tell(this.#lostError());
  }

  #lostError(reason = this.#lost ?? "it closed the session"): EscapementError {
    return new EscapementError("E_HOST_LOST", { host: this.host, what: "a command", reason });
  }

  async #start(line: string): Promise<CommandCarrier> {
    for (;;) {
      const leave = await this.#turnstile.enter();
      try {
        return await this.#open(line, leave);
      } catch (error) {
        const others = this.#turnstile.inside - 1;
        leave();
        // The host allows fewer sessions than we thought: wait for one of ours to end.
        if (this.#lost === undefined && others > 0 && /open failure/i.test(messageOf(error))) {
          this.#turnstile.narrow(others);
          continue;
        }
        throw error instanceof EscapementError ? error : this.#lostError(messageOf(error));
      }
    }
  }

  #open(line: string, leave: () => void): Promise<CommandCarrier> {
    const { client }: { client: Client } = this.#chain;
    return new Promise((resolve, reject) => {
      if (this.#lost !== undefined) {
        reject(this.#lostError());
        return;
      }
      this.#onLost.add(reject);
      const done = () => this.#onLost.delete(reject);
      try {
        client.exec(line, (error, channel) => {
          done();
          if (error) reject(error);
          // Listened to at once: a short command's exit status may be in the same packet as the permission to run.
          else resolve(carrierOf(channel, leave, this.#onLost, () => this.#lostError()));
        });
      } catch (error) {
        done();
        reject(error);
      }
    });
  }
}

function carrierOf(
  channel: ClientChannel,
  leave: () => void,
  onLost: Set<(error: EscapementError) => void>,
  closedEarly: () => EscapementError,
): CommandCarrier {
  const ended = new Promise<{ exitCode: number | null; signal?: string }>((resolve, reject) => {
    let end: { exitCode: number | null; signal?: string } | undefined;
    onLost.add(reject);
    channel.once("exit", (code: number | null, signal?: string) => {
      end = { exitCode: code, ...(signal && { signal: signal.startsWith("SIG") ? signal : `SIG${signal}` }) };
    });
    channel.once("close", () => {
      onLost.delete(reject);
      leave();
      // Without an exit status nobody knows how it ended.
      if (end) resolve(end);
      else reject(closedEarly());
    });
  });
  ended.catch(() => leave());
  return {
    stdin: channel,
    stdout: channel,
    stderr: channel.stderr,
    kill() {
      try {
        channel.signal("KILL");
        channel.close();
      } catch {
        // The connection is gone; the host's own time limit ends it.
      }
    },
    ended,
  };
}
