/** A host whose /opt/escapement is a folder of this machine: real sh, real sums, real renames, no network. */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import type { ExecRequest, ExecResult, Remote, UploadRequest } from "../../../src/remote/remote.ts";

export interface FolderHost extends Remote {
  /** Stands for /opt/escapement. */
  readonly root: string;
  readonly wrapper: string;
  /** Names of uploaded files, in order. */
  readonly uploads: string[];
  /** Called before each exec and upload; may throw, as a lost connection does. */
  interfere: (what: string) => void;
  /** Changes what arrives, as a broken disk would. */
  corrupt: (name: string, bytes: Buffer) => Buffer;
}

export function folderHost(host = "host-1", environment: Record<string, string> = {}): FolderHost {
  const folder = mkdtempSync(join(tmpdir(), "escapement-host-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const root = join(folder, "opt");
  const self: FolderHost = {
    host,
    root,
    wrapper: join(folder, "bin", "escapement"),
    uploads: [],
    interfere: () => {},
    corrupt: (_, bytes) => bytes,
    async exec(request: ExecRequest): Promise<ExecResult> {
      self.interfere(`exec ${request.argv.slice(3).join(" ")}`);
      return runShell(request, { ...environment, ESCAPEMENT_ROOT: root, ESCAPEMENT_WRAPPER: self.wrapper });
    },
    async upload(request: UploadRequest): Promise<void> {
      const place = request.path.replace("/opt/escapement", root);
      const name = place.split("/").at(-1)!;
      self.interfere(`upload ${name}`);
      const content =
        "file" in request.content ? readFileSync(request.content.file) : Buffer.from(request.content.bytes);
      if (createHash("sha256").update(content).digest("hex") !== request.sha256) throw new Error("wrong sum");
      mkdirSync(dirname(place), { recursive: true });
      writeFileSync(`${place}.part`, self.corrupt(name, content), { mode: request.mode });
      renameSync(`${place}.part`, place);
      self.uploads.push(name);
    },
    async close() {},
  };
  return self;
}

function runShell(request: ExecRequest, environment: Record<string, string>): Promise<ExecResult> {
  const [program = "", ...args] = request.argv;
  const started = performance.now();
  const child = spawn(program, args, { env: { ...process.env, ...environment } });
  const output = { stdout: "", stderr: "" };
  child.stdout.on("data", (part) => (output.stdout += part));
  child.stderr.on("data", (part) => (output.stderr += part));
  child.stdin.on("error", () => {});
  child.stdin.end(request.stdin ?? "");
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (exitCode, signal) =>
      resolve({
        exitCode,
        ...(signal && { signal }),
        ...output,
        truncated: false,
        durationMs: performance.now() - started,
      }),
    );
  });
}
