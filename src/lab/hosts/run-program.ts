/** Runs a program of this machine to its end, with both streams read and a time limit. */
import { spawn } from "node:child_process";
import { constants } from "node:os";
import { EscapementError } from "../../base/errors.ts";

export interface ProgramResult {
  /** Null where a signal ended it, the time limit's SIGKILL included. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ProgramOptions {
  /** Written to standard input, which is then closed. Default: empty. */
  readonly input?: string;
  /** Then it is killed. Default 60,000. */
  readonly deadlineMs?: number;
  /** What an error calls it, where the command line says too much. Default: its first words. */
  readonly step?: string;
  /** Added to our environment. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** A code other than 0 is a result. @throws E_PROGRAM_MISSING when it cannot be started */
export function runProgram(argv: readonly string[], options: ProgramOptions = {}): Promise<ProgramResult> {
  const [program = "", ...args] = argv;
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      stdio: ["pipe", "pipe", "pipe"],
      env: { ...process.env, LC_ALL: "C", ...options.environment },
    });
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      // What it started may hold the other ends for ever.
      child.stdout.destroy();
      child.stderr.destroy();
    }, options.deadlineMs ?? 60_000);
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
    });
    // A program that does not read its input is no error.
    child.stdin.on("error", () => {});
    child.stdin.end(options.input ?? "");
    child.once("error", () => {
      clearTimeout(timer);
      reject(
        new EscapementError("E_PROGRAM_MISSING", {
          program,
          hint: "npm run setup -- --for test installs what the lab needs",
        }),
      );
    });
    child.once("close", (code) => {
      clearTimeout(timer);
      resolve({ code, stdout, stderr });
    });
  });
}

/** The same, where anything but code 0 is an error. @returns standard output. @throws E_LAB_STEP */
export async function mustRun(argv: readonly string[], options: ProgramOptions = {}): Promise<string> {
  const result = await runProgram(argv, options);
  if (result.code === 0) return result.stdout;
  const said = (result.stderr.trim() || result.stdout.trim()).split("\n").slice(-3).join("; ");
  throw new EscapementError("E_LAB_STEP", {
    step: options.step ?? argv.slice(0, 4).join(" "),
    reason: `${result.code === null ? "killed" : `code ${result.code}`}${said ? `: ${said}` : ""}`,
  });
}

/** Runs a program on our own standard streams. @returns its exit code; 128 and the number of the signal that ended it */
export function attachProgram(argv: readonly string[]): Promise<number> {
  const [program = "", ...args] = argv;
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: "inherit" });
    child.once("error", reject);
    child.once("exit", (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)));
  });
}
