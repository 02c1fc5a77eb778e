/** The product's own program, run as a person would. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { packageRoot } from "../../src/lab/package-root.ts";

const program = join(packageRoot() ?? ".", "bin/escapement.mjs");

/** Runs `escapement ARGS --url URL`. @throws with its output unless it ends with 0 */
export function escapement(url: string, ...args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      [program, ...args, "--url", url],
      { timeout: 60_000, env: { ...process.env, NO_COLOR: "1" } },
      (error, stdout, stderr) => {
        if (error)
          reject(new Error(`escapement ${args.join(" ")}: ${stderr || stdout || error.message}`.trim()));
        else resolve(stdout);
      },
    );
  });
}
