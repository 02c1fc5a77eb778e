/** This machine as a host, without ssh: the same commands through a child process. */
import { spawn } from "node:child_process";
import { EscapementError, messageOf } from "../base/errors.ts";
import { userName } from "../base/user-name.ts";
import { type CommandCarrier, type CommandContext, type CommandRequest, runCommand } from "./command-run.ts";
import type { Connect, ExecRequest, ExecResult, Remote, RemoteTarget, UploadRequest } from "./remote.ts";
import { loginShellLine } from "./shell-line.ts";
import { readSudoPassword } from "./sudo-password.ts";
import { uploadBy } from "./upload.ts";

export const connectLocal: Connect = async (target) =>
  new LocalRemote(target, await readSudoPassword(target));

class LocalRemote implements Remote {
  readonly host: string;
  readonly #context: CommandContext;
  readonly #running = new Set<CommandCarrier>();
  #closed = false;

  constructor(target: RemoteTarget, sudoPassword: string | undefined) {
    this.host = target.host;
    this.#context = {
      host: target.host,
      user: userName(),
      ...(sudoPassword !== undefined && { sudoPassword }),
      start: (script, forced) => this.#start(script, forced),
    };
  }

  exec(request: ExecRequest): Promise<ExecResult> {
    return this.#run(request);
  }

  async upload(request: UploadRequest): Promise<void> {
    await uploadBy((command) => this.#run(command), this.host, request);
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const carrier of this.#running) carrier.kill();
  }

  #run(request: CommandRequest): Promise<ExecResult> {
    return runCommand(request, this.#context);
  }

  async #start(script: string, forced: boolean): Promise<CommandCarrier> {
    const lost = (reason: string) =>
      new EscapementError("E_HOST_LOST", { host: this.host, what: "a command", reason });
    if (this.#closed) throw lost("it was closed on this side");
    if (forced) throw lost("a forced command is a matter of sshd, and this machine is reached without it");
    const child = spawn("/bin/sh", ["-c", loginShellLine(script)], { detached: true });
    const ended = new Promise<{ exitCode: number | null; signal?: string }>((resolve, reject) => {
      child.once("error", (error) => reject(lost(messageOf(error))));
      child.once("close", (code, signal) => {
        this.#running.delete(carrier);
        if (this.#closed) reject(lost("it was closed on this side"));
        else resolve({ exitCode: code, ...(signal !== null && { signal }) });
      });
    });
    const carrier: CommandCarrier = {
      stdin: child.stdin,
      stdout: child.stdout,
      stderr: child.stderr,
      kill() {
        try {
          if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
        } catch {
          // It has ended already, or runs as root; its own time limit ends it then.
        }
        // Whoever still holds the streams does not hold us.
        child.stdout.destroy();
        child.stderr.destroy();
      },
      ended,
    };
    ended.catch(() => {});
    this.#running.add(carrier);
    return carrier;
  }
}
