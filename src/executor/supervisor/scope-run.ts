/**
 * The supervisor's end of an attempt that runs in a systemd scope as another
 * user. Signals cannot reach it; it is told by lines on its standard input,
 * whose end kills it.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { constants } from "node:os";
import { hostFault, type ScopeOrder } from "./protocol.ts";

const endLimitMs = 10_000;
/** What the program that starts scopes exits with when it refuses. */
const refusedCode = 125;
/** A shell adds this to the number of the signal that ended its child. */
const signalBase = 128;

/** Starts the program that starts the scope, and hands it the attempt's environment. */
export function startScope(
  scope: ScopeOrder,
  command: readonly string[],
  environment: Readonly<Record<string, string>>,
): ChildProcess {
  const [program, ...options] = scope.start;
  const child = spawn(program!, [...options, ...command], {
    cwd: "/",
    env: { PATH: process.env.PATH, LC_ALL: "C" },
    detached: true,
    stdio: ["pipe", "pipe", "pipe"],
  });
  child.stdin!.on("error", () => {});
  child.stdin!.write(`${assignments(environment)}.\n`);
  return child;
}

/** As lines that a POSIX shell evaluates to the same text; one a variable, since a line with a dot ends them. */
function assignments(environment: Readonly<Record<string, string>>): string {
  const lines = Object.entries(environment).map(([name, value]) => {
    const quoted = value.replaceAll("'", "'\\''").replaceAll("\n", `'"$line_feed"'`);
    return `export ${name}='${quoted}'\n`;
  });
  return `line_feed=$(printf '\\nx'); line_feed=\${line_feed%x}\n${lines.join("")}`;
}

export function signalScope(child: ChildProcess, name: NodeJS.Signals): boolean {
  const open = child.exitCode === null && child.signalCode === null && child.stdin!.writable;
  if (!open) return false;
  if (name === "SIGTERM") child.stdin!.write("term\n");
  else child.stdin!.end("kill\n");
  return true;
}

/** Kills what the scope still holds, also when the program that started it is gone. */
export function endScope(scope: ScopeOrder): Promise<void> {
  const [program, ...options] = scope.end;
  return new Promise((resolve) => {
    execFile(program!, options, { timeout: endLimitMs }, () => resolve());
  });
}

/** From what the starting program ended with to what became of the attempt. */
export function scopeEnd(
  code: number | null,
  signal: NodeJS.Signals | null,
  complaint: string | undefined,
): { code: number | null; signal: NodeJS.Signals | null; error: string | null } {
  if (complaint !== undefined && (code === refusedCode || code === 1))
    return { code: null, signal: null, error: `${hostFault}${complaint}` };
  if (code !== null && code > signalBase) {
    const name = Object.entries(constants.signals).find(([, number]) => number === code - signalBase)?.[0];
    if (name !== undefined) return { code: null, signal: name as NodeJS.Signals, error: null };
  }
  return { code, signal, error: null };
}

/** The line by which sudo or the starting program says why nothing was started. */
export function complaintOf(line: string): string | undefined {
  return /^(?:run-job|sudo): /.test(line) ? line : undefined;
}
