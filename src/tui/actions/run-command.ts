/** Runs a command of the program as a process of its own, and says in a line what came of it. */
import { spawn } from "node:child_process";
import { messageOf } from "../../base/errors.ts";

export interface OwnProgram {
  /** Node and the script, as this process was started. */
  readonly command: readonly [string, ...string[]];
  readonly environment: NodeJS.ProcessEnv;
}

export interface CommandResult {
  readonly ok: boolean;
  readonly text: string;
}

const mostOutput = 1_000_000;

/** Never throws: a program that cannot be started is a result, too. */
export function runOwnCommand(program: OwnProgram, args: readonly string[]): Promise<CommandResult> {
  return new Promise((resolve) => {
    const [node, ...script] = program.command;
    const child = spawn(node, [...script, ...args, "--json"], {
      env: { ...program.environment, NO_COLOR: "1" },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      if (stdout.length < mostOutput) stdout += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      if (stderr.length < mostOutput) stderr += text;
    });
    child.on("error", (error) => resolve({ ok: false, text: messageOf(error) }));
    child.on("close", (code, signal) => {
      const words = `escapement ${args.slice(0, 3).join(" ")}`;
      if (code === 0) return resolve({ ok: true, text: `✓ ${words}: done${summary(stdout)}` });
      resolve({
        ok: false,
        text: `✗ ${words}: ${problem(stderr) ?? problem(stdout) ?? `ended with ${signal ?? code}`}`,
      });
    });
  });
}

/** The few words of an answer that say what happened. */
function summary(stdout: string): string {
  const answer = parse(stdout);
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
