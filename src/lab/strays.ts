/** Processes that a cluster of local processes may have left behind. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { monotonicMs, sleep } from "../base/monotonic.ts";

/** Put into the environment of every node; inherited by what it starts, unless that clears its environment. */
export const labVariable = "ESCAPEMENT_LAB";

/**
 * Pids of living processes whose environment has one of `entries`, each `NAME=value` or a
 * beginning of it. Empty where there is no /proc to look at.
 */
export function processesWith(entries: readonly string[]): number[] {
  if (!existsSync("/proc/self/environ")) return [];
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => {
      const environment = readOrNothing(`/proc/${pid}/environ`).split("\0");
      // A zombie's environment is empty: it has ended.
      return environment.some((entry) => entries.some((wanted) => entry.startsWith(wanted)));
    })
    .map(Number);
}

/** Gives such processes `patienceMs` to end by themselves, then kills them. @returns how many it killed */
export async function endProcessesWith(entries: readonly string[], patienceMs: number): Promise<number> {
  const deadline = monotonicMs() + patienceMs;
  let left = processesWith(entries);
  while (left.length > 0 && monotonicMs() < deadline) {
    await sleep(50);
    left = processesWith(entries);
  }
  for (const pid of left) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It ended a moment ago.
    }
  }
  return left.length;
}

function readOrNothing(file: string): string {
  try {
    return readFileSync(file, "latin1");
  } catch {
    return "";
  }
}
