/** Runs a command of the program as a process of its own, and says in a line what came of it. */
import { spawn } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { messageOf } from "../../base/errors.ts";
import { type ExitCode, exitCodeMeaning } from "../../base/exit-code.ts";

export interface OwnProgram {
  /** Node and the script, as this process was started. */
  readonly command: readonly [string, ...string[]];
  readonly environment: NodeJS.ProcessEnv;
}

export interface CommandResult {
  readonly ok: boolean;
  readonly text: string;
  /** What it wrote on standard output. */
  readonly stdout: string;
}

/**
 * Never throws: a program that cannot be started is a result, too, and so is a
 * machine without room for its answer. It writes into files and belongs to no
 * terminal: when the screens are left, or die, a drill or an apply that they have
 * started goes on to its end.
 */
export async function runOwnCommand(program: OwnProgram, args: readonly string[]): Promise<CommandResult> {
  const options = args.findIndex((word) => word.startsWith("-"));
  const words = ["escapement", ...args.slice(0, options < 0 ? 4 : options)].join(" ");
  let folder: string | undefined;
  try {
    folder = mkdtempSync(join(tmpdir(), "escapement-ui-"));
    const [out, err] = [join(folder, "out"), join(folder, "err")];
    const { code, signal } = await ended(program, [...args, "--json"], out, err);
    const [stdout, stderr] = [readFileSync(out, "utf8"), readFileSync(err, "utf8")];
    if (code === 0) return { ok: true, text: `✓ ${words}: done${summary(stdout)}`, stdout };
    const meaning = exitCodeMeaning[code as ExitCode] as string | undefined;
    const why =
      problem(stderr) ??
      (signal ? `ended by ${signal}` : `${meaning ?? `ended with ${code}`}${summary(stdout)}`);
    return { ok: false, text: `✗ ${words}: ${why}`, stdout };
  } catch (error) {
    return { ok: false, text: `✗ ${words}: ${messageOf(error)}`, stdout: "" };
  } finally {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }
}

function ended(
  { command: [node, ...script], environment }: OwnProgram,
  args: readonly string[],
  out: string,
  err: string,
): Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }> {
  const handles = [openSync(out, "w", 0o600), openSync(err, "w", 0o600)] as const;
  const child = spawn(node, [...script, ...args], {
    env: { ...environment, NO_COLOR: "1" },
    stdio: ["ignore", ...handles],
    detached: true,
  });
  for (const handle of handles) closeSync(handle);
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => resolve({ code, signal }));
  });
}

/** The few words of an answer that say what happened. */
function summary(stdout: string): string {
  const answer = parse(stdout) ?? parse(stdout.trim().split("\n").at(-1) ?? "");
  if (!answer) return "";
  const parts = ["status", "state", "verdict", "outcome", "fireTime", "runNo", "shards"].flatMap((name) => {
    const value = answer[name];
    return typeof value === "string" || typeof value === "number" ? [`${name} ${value}`] : [];
  });
  return parts.length > 0 ? `, ${parts.join(", ")}` : "";
}

function problem(text: string): string | undefined {
  for (const line of text.trim().split("\n").reverse()) {
    const error = parse(line)?.error as { message?: string; hint?: string } | undefined;
    if (error?.message) return error.hint ? `${error.message} (${error.hint})` : error.message;
  }
  return text.trim().split("\n").at(-1) || undefined;
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
