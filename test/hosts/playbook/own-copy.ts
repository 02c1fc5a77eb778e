/** The program as it is now, in a folder of its own: nobody builds over it while hosts are at work. */
import { type SpawnOptions, spawn } from "node:child_process";
import { appendFileSync, cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll } from "vitest";

const root = fileURLToPath(new URL("../../../", import.meta.url));

export interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export class OwnCopy {
  readonly folder = mkdtempSync(join(tmpdir(), "escapement-copy-"));

  /** Removed after the tests of the file. */
  constructor() {
    for (const part of ["bin", "dist", "profiles", "playbooks", "capacity", "package.json"])
      cpSync(join(root, part), join(this.folder, part), { recursive: true });
    afterAll(() => rmSync(this.folder, { recursive: true, force: true }));
  }

  /** Makes another version of it: the same program, with another sum. */
  change(): void {
    appendFileSync(join(this.folder, "dist/escapement.mjs"), "\n// another version\n");
  }

  /** Runs a command to its end. */
  run(args: readonly string[], options: SpawnOptions & { readonly input?: string } = {}): Promise<Ended> {
    const child = spawn(process.execPath, [join(this.folder, "bin/escapement.mjs"), ...args], options);
    const output = { stdout: "", stderr: "" };
    child.stdout?.on("data", (part) => (output.stdout += part));
    child.stderr?.on("data", (part) => (output.stderr += part));
    child.stdin?.end();
    return new Promise((resolve, reject) => {
      child.on("error", reject);
      child.on("close", (status) => resolve({ status, ...output }));
    });
  }
}
