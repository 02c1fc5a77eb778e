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

/** A process between two programs has one within microseconds, unless the machine is busy. */
const changingPauseMs = 2;

export interface MarkedProcesses {
  readonly marked: readonly number[];
  /** Whose marks could not be seen, as they were just changing their program. */
  readonly unclear: readonly number[];
}

/**
 * The living processes, except this one, that carry every entry of the mark.
 * One that is just changing its program shows no environment: it is looked at
 * again until it does, but not after `untilMs` of the monotonic clock.
 */
export async function findMarked(mark: Mark, untilMs: number): Promise<MarkedProcesses> {
  const marked: number[] = [];
  let unclear = canSearch() ? readdirSync("/proc").map(Number).filter(isOther) : [];
  for (;;) {
    unclear = unclear.filter((pid) => {
      const carries = carriesMark(pid, mark);
      if (carries === true) marked.push(pid);
      return carries === "unclear";
    });
    if (unclear.length === 0 || monotonicMs() > untilMs) return { marked, unclear };
    await sleep(changingPauseMs);
  }
}

function isOther(pid: number): boolean {
  return Number.isInteger(pid) && pid !== process.pid;
}

function carriesMark(pid: number, mark: Mark): boolean | "unclear" {
  const before = environmentOf(pid);
  if (before !== noEnvironment && !carries(before, mark)) return false;
  const stat = processStat(pid);
  if (stat === undefined || stat.state === "Z" || stat.state === "X") return false;
  if (before !== noEnvironment) return true;
  // Or it has changed it since it was looked at.
  return stat.changingProgram ? "unclear" : carries(environmentOf(pid), mark);
}

function carries(environment: string | undefined, mark: Mark): boolean {
  return environment !== undefined && mark.every((entry) => environment.includes(`\0${entry}\0`));
}

/**
 * Kills what carries the mark until none is found.
 * @returns the pids it killed, and those that at the end of `limitMs` were still there, or may be marked
 */
export async function killMarked(
  mark: Mark,
  limitMs: number,
): Promise<{ killed: readonly number[]; left: readonly number[] }> {
  const killed = new Set<number>();
  const until = monotonicMs() + limitMs;
  for (;;) {
    const { marked, unclear } = await findMarked(mark, until);
    for (const pid of marked) {
      killed.add(pid);
      signal(pid, "SIGKILL");
    }
    const left = [...marked, ...unclear];
    if (left.length === 0 || monotonicMs() > until) return { killed: [...killed], left };
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

/** As {@link environmentOf} gives it for nothing at all. */
const noEnvironment = "\0\0";

/** With a zero byte before and after every entry; undefined when it may not be read. */
function environmentOf(pid: number): string | undefined {
  try {
    return `\0${readFileSync(`/proc/${pid}/environ`, "latin1")}\0`;
  } catch {
    return undefined;
  }
}
