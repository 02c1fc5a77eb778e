/** What the kernel says of processes, from /proc. */
import { readdirSync, readFileSync } from "node:fs";
import { sleep } from "../../src/base/monotonic.ts";

interface ProcessStat {
  readonly parent: number;
  /** One letter: R running, S sleeping, T stopped, Z zombie. */
  readonly state: string;
}

function stat(pid: number): ProcessStat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name, in brackets, may contain anything.
    const [state, parent] = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return { state: state!, parent: Number(parent) };
  } catch {
    return undefined;
  }
}

export function isStopped(pid: number): boolean {
  return stat(pid)?.state === "T";
}

export function isGone(pid: number): boolean {
  const state = stat(pid)?.state;
  return state === undefined || state === "Z";
}

/** Direct children of `parents`. */
export function childrenOf(parents: readonly number[]): number[] {
  const wanted = new Set(parents);
  return readdirSync("/proc").flatMap((name) => {
    const pid = Number(name);
    return Number.isInteger(pid) && wanted.has(stat(pid)?.parent ?? -1) ? [pid] : [];
  });
}

/** Sends a signal; false when the process is gone. */
export function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}

/** Waits until the kernel shows every process in this state; false if it does not, or there is none. */
export async function shown(pids: readonly number[], state: (pid: number) => boolean): Promise<boolean> {
  for (let look = 0; look < 100; look++) {
    if (pids.length > 0 && pids.every(state)) return true;
    await sleep(10);
  }
  return false;
}
