/** Starts the program as users do, `node bin/escapement.mjs …`, and never leaves one running. */
import { fileURLToPath } from "node:url";
import { afterAll, onTestFinished } from "vitest";
import { type ProcessExit, spawnTethered, type TetheredProcess } from "../../src/lab/tether.ts";
import { until } from "./until.ts";

const program = fileURLToPath(new URL("../../bin/escapement.mjs", import.meta.url));

export interface ProcessOptions {
  /** Added to our environment; undefined takes a variable away. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly workingFolder?: string;
  /** Written to standard input, which is then closed. Default: empty. */
  readonly input?: string;
}

export interface RunningProcess {
  readonly pid: number;
  /** What it has written so far. */
  stdout(): string;
  stderr(): string;
  kill(signal: NodeJS.Signals): boolean;
  /** Fulfils at its end, with all of its output read. */
  readonly exited: Promise<ProcessExit>;
  /** Waits until standard output or standard error matches. */
  seen(pattern: RegExp, deadlineMs?: number): Promise<RegExpExecArray>;
}

export interface FinishedProcess extends ProcessExit {
  readonly stdout: string;
  readonly stderr: string;
}

const running = new Set<TetheredProcess>();
afterAll(async () => {
  for (const one of running) await end(one);
});

/** Starts `escapement ARGS`; killed at the end of the test, or of the file when a hook started it. */
export function startEscapement(
  args: readonly string[],
  options: ProcessOptions = {},
): Promise<RunningProcess> {
  return startProcess([process.execPath, program, ...args], options);
}

/** Runs `escapement ARGS` to its end. A code other than 0 is a result, not an error. */
export async function runEscapement(
  args: readonly string[],
  options: ProcessOptions = {},
): Promise<FinishedProcess> {
  const started = await startEscapement(args, options);
  const exit = await started.exited;
  return { ...exit, stdout: started.stdout(), stderr: started.stderr() };
}

/** The same for any program. */
export async function startProcess(
  command: readonly [string, ...string[]],
  options: ProcessOptions = {},
): Promise<RunningProcess> {
  const started = await spawnTethered({
    command,
    environment: { ...process.env, NO_COLOR: "1", ...options.environment },
    ...(options.workingFolder === undefined ? {} : { workingFolder: options.workingFolder }),
    stdin: options.input === undefined ? "ignore" : "pipe",
    stdout: "pipe",
    stderr: "pipe",
  });
  running.add(started);
  endWithTest(started);
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    started.child[name]?.setEncoding("utf8").on("data", (chunk: string) => {
      output[name] += chunk;
    });
  }
  started.child.stdin?.on("error", () => {});
  started.child.stdin?.end(options.input);
  return {
    pid: started.pid,
    stdout: () => output.stdout,
    stderr: () => output.stderr,
    kill: (signal) => started.kill(signal),
    get exited() {
      return started.exited;
    },
    seen: (pattern, deadlineMs = 30_000) =>
      until(() => pattern.exec(output.stdout) ?? pattern.exec(output.stderr) ?? (started.exit && "ended"), {
        deadlineMs,
        what: `${pattern} in the output of ${command.slice(1).join(" ")}`,
      })
        .then((match) => {
          if (match === "ended")
            throw new Error(`${command.slice(1).join(" ")} ended without writing ${pattern}`);
          return match;
        })
        .catch((error: Error) => {
          throw new Error(`${error.message}; it wrote:\n${output.stdout}\n${output.stderr}`.slice(0, 4_000), {
            cause: error,
          });
        }),
  };
}

function endWithTest(started: TetheredProcess): void {
  try {
    onTestFinished(() => end(started));
  } catch {
    // Started by a hook: it lives until the end of the file.
  }
}

async function end(started: TetheredProcess): Promise<void> {
  running.delete(started);
  started.kill("SIGKILL");
  await started.exited;
}
