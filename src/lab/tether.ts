/**
 * Child processes and folders that do not outlive us, not even when we die by SIGKILL.
 *
 *   this process ──pipe──▶ watcher (one /bin/sh, in a session of its own)
 *        │                    │  the pipe ends = we are gone
 *        └─ child, child …◀───┘  it signals every child still listed, waits,
 *                                kills the rest, and removes their folders
 *
 * The watcher learns of a child by one line on the pipe, right after the spawn;
 * a kill that falls into these few microseconds is the one case it misses.
 * When we are only stopped (SIGSTOP) the pipe stays open and nothing happens.
 */
import { type ChildProcess, type StdioNull, type StdioPipe, spawn } from "node:child_process";
import type { Writable } from "node:stream";
import { EscapementError, messageOf } from "../base/errors.ts";
import type { UnixUser } from "./unprivileged-user.ts";

export interface TetherOptions {
  readonly command: readonly [program: string, ...args: string[]];
  /** The whole environment of the child. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly user?: UnixUser | undefined;
  readonly workingFolder?: string;
  /** Default: empty. */
  readonly stdin?: StdioNull | StdioPipe;
  /** A file descriptor, or one of Node's words. Default: thrown away. */
  readonly stdout?: number | StdioNull | StdioPipe;
  readonly stderr?: number | StdioNull | StdioPipe;
  /** What the watcher sends first when we are gone; SIGKILL follows after 5 s. Default KILL. */
  readonly orphanSignal?: "KILL" | "QUIT" | "TERM";
}

export interface ProcessExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface TetheredProcess {
  readonly pid: number;
  readonly child: ChildProcess;
  /** Undefined while it runs. */
  readonly exit: ProcessExit | undefined;
  /** Fulfils when the process has ended and its output has been read; never rejects. */
  readonly exited: Promise<ProcessExit>;
  /** Sends a signal to the process alone; false when it has ended. */
  kill(signal: NodeJS.Signals): boolean;
}

/**
 * Starts a process in a session of its own (Ctrl-C on our terminal does not reach it).
 * It does not keep our event loop alive; waiting for `exited` does.
 * @throws E_UNAVAILABLE when it cannot be started at all
 */
export async function spawnTethered(options: TetherOptions): Promise<TetheredProcess> {
  const [program, ...args] = options.command;
  openWatcher();
  const child = spawn(program, args, {
    env: options.environment as NodeJS.ProcessEnv,
    cwd: options.workingFolder,
    detached: true,
    stdio: [options.stdin ?? "ignore", options.stdout ?? "ignore", options.stderr ?? "ignore"],
    ...(options.user ? { uid: options.user.uid, gid: options.user.gid } : {}),
  });
  const pid = child.pid;
  if (pid === undefined) {
    const reason = await new Promise<unknown>((resolve) => child.once("error", resolve));
    throw new EscapementError(
      "E_UNAVAILABLE",
      {
        what: `cannot start ${program}: ${messageOf(reason)}`,
        hint: "check that the file exists and that its folders may be entered",
      },
      { cause: reason },
    );
  }
  const untether = tether(`p${pid}`, `${options.orphanSignal ?? "KILL"} ${pid}`);

  let exit: ProcessExit | undefined;
  child.once("exit", untether);
  const closed = new Promise<ProcessExit>((resolve) => {
    child.once("close", (code, signal) => {
      exit = { code, signal };
      resolve(exit);
    });
  });
  child.unref();
  return {
    pid,
    child,
    get exit() {
      return exit;
    },
    get exited() {
      if (!exit) child.ref();
      return closed;
    },
    kill: (signal) => child.exitCode === null && child.signalCode === null && child.kill(signal),
  };
}

/**
 * Has a folder removed, after the end of all children, when we are gone.
 * @returns a function that gives it up again, to be called when the folder is removed or kept
 */
export function tetherFolder(folder: string): () => void {
  folders += 1;
  return tether(`f${folders}`, `RM ${folder}`);
}

let folders = 0;
/** What the watcher knows: key, and what is to be done about it when we are gone. */
const tethered = new Map<string, string>();
let watcher: { readonly process: ChildProcess; readonly input: Writable } | undefined;

function tether(key: string, what: string): () => void {
  const input = openWatcher();
  tethered.set(key, what);
  input.write(`+ ${key} ${what}\n`);
  return () => {
    if (tethered.delete(key)) watcher?.input.write(`- ${key}\n`);
  };
}

const watcherScript = `
set -f
listed=
while read -r sign key what; do
  case $sign in
    +) listed="$listed $key"; eval "what_$key=\\$what" ;;
    -) kept=; for one in $listed; do [ "$one" = "$key" ] || kept="$kept $one"; done; listed=$kept ;;
  esac
done
processes=
for key in $listed; do
  eval "what=\\$what_$key"; word=\${what%% *} rest=\${what#* }
  case $key in p*) kill -s "$word" "$rest"; processes="$processes $rest" ;; esac
done
tries=0
while [ $tries -lt 50 ]; do
  alive=
  for pid in $processes; do kill -0 "$pid" && alive=yes; done
  [ "$alive" ] || break
  tries=$((tries + 1)); sleep 0.1
done
for pid in $processes; do kill -s KILL "$pid"; done
for key in $listed; do
  eval "what=\\$what_$key"; folder=\${what#* }
  case $key$folder in f*/?*) rm -rf -- "$folder" ;; esac
done
`;

function openWatcher(): Writable {
  if (watcher) return watcher.input;
  const process = spawn("/bin/sh", ["-c", watcherScript, "escapement-watcher"], {
    detached: true,
    cwd: "/",
    env: { PATH: "/usr/bin:/bin" },
    stdio: ["pipe", "ignore", "ignore"],
  });
  const input = process.stdin;
  input.on("error", () => {});
  process.on("error", () => {});
  process.once("exit", () => {
    watcher = undefined;
    if (tethered.size > 0) openWatcher();
  });
  process.unref();
  (input as Writable & { unref?(): void }).unref?.();
  watcher = { process, input };
  for (const [key, what] of tethered) input.write(`+ ${key} ${what}\n`);
  return input;
}
