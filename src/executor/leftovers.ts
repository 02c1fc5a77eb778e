/**
 * Processes that an attempt or an earlier executor left behind, found by what
 * they were given in their environment. A child cannot lose this mark without
 * executing a new program with another environment.
 *
 * Linux only; elsewhere nothing is found, and `canSearch` says so.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { monotonicMs, sleep } from "../base/monotonic.ts";
import { processStat } from "./host-facts.ts";

/** `NAME=value` entries that must all be there. */
export type Mark = readonly string[];

export function canSearch(): boolean {
  return existsSync("/proc/self/environ");
}

/** The living processes, except this one, that carry every entry of the mark. */
export function findMarked(mark: Mark): number[] {
  if (!canSearch()) return [];
  const found: number[] = [];
  for (const name of readdirSync("/proc")) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    const environment = environmentOf(pid);
    if (environment === undefined || !mark.every((entry) => environment.includes(`\0${entry}\0`))) continue;
    const state = processStat(pid)?.state;
    if (state !== undefined && state !== "Z" && state !== "X") found.push(pid);
  }
  return found;
}

/**
 * Kills what carries the mark until none is found.
 * @returns the pids it killed, and those still there at the end of `limitMs`
 */
export async function killMarked(
  mark: Mark,
  limitMs: number,
): Promise<{ killed: readonly number[]; left: readonly number[] }> {
  const killed = new Set<number>();
  const until = monotonicMs() + limitMs;
  for (;;) {
    const found = findMarked(mark);
    for (const pid of found) {
      killed.add(pid);
      signal(pid, "SIGKILL");
    }
    if (found.length === 0 || monotonicMs() > until) return { killed: [...killed], left: found };
    await sleep(20);
  }
}

/** Signals a whole process group; false when there is none. */
export function signalGroup(group: number, name: NodeJS.Signals): boolean {
  return group > 1 && signal(-group, name);
}

function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}

/** With a zero byte before and after every entry; undefined when it may not be read. */
function environmentOf(pid: number): string | undefined {
  try {
    return `\0${readFileSync(`/proc/${pid}/environ`, "latin1")}\0`;
  } catch {
    return undefined;
  }
}
