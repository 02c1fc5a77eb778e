/** A Remote that runs commands on this machine, in the shell that hosts use, without any connection. */
import { spawn } from "node:child_process";
import { monotonicMs } from "../../../src/base/monotonic.ts";
import type { ExecRequest, ExecResult, Remote } from "../../../src/remote/remote.ts";

export function localShell(host = "here"): Remote {
  return {
    host,
    exec: run,
    upload: async () => {
      throw new Error("not used");
    },
    close: async () => {},
  };
}

function run(request: ExecRequest): Promise<ExecResult> {
  const [program = "sh", ...words] = request.argv;
  const began = monotonicMs();
  const child = spawn(program, words, { stdio: ["pipe", "pipe", "pipe"] });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  child.stdin.on("error", () => {});
  child.stdin.end(request.stdin ?? "");
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (exitCode, signal) =>
      resolve({
        exitCode,
        ...(signal && { signal }),
        stdout,
        stderr,
        truncated: false,
        durationMs: monotonicMs() - began,
      }),
    );
  });
}
