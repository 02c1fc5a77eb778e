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

/** Between two looks: the killed need some time to go, a change of program takes microseconds unless the machine is busy. */
const pauseMs = { killed: 20, changing: 2 };

/** One look at all processes but this one. */
interface Look {
  /** The living that carry every entry of the mark. */
  readonly marked: readonly number[];
  /** Whose marks could not be seen, as they are just changing their program. */
  readonly unclear: readonly number[];
}

/**
 * Looks at processes once. Linux only; elsewhere nothing is found.
 * @param among only these; default: all there are
 */
export function findMarked(mark: Mark, among = allOthers()): Look {
  const marked: number[] = [];
  const unclear = among.filter((pid) => {
    const carries = carriesMark(pid, mark);
    if (carries === true) marked.push(pid);
    return carries === "unclear";
  });
  return { marked, unclear };
}

function allOthers(): number[] {
  return canSearch() ? readdirSync("/proc").map(Number).filter(isOther) : [];
}

function isOther(pid: number): boolean {
  return Number.isInteger(pid) && pid !== process.pid;
}

function carriesMark(pid: number, mark: Mark): boolean | "unclear" {
  const environment = environmentOf(pid);
  if (environment !== noEnvironment && !carries(environment, mark)) return false;
  const stat = processStat(pid);
  if (stat === undefined || stat.state === "Z" || stat.state === "X") return false;
  if (environment !== noEnvironment) return true;
  // Either it has none at all, or it was changing its program when it was looked at, and may be again.
  return stat.changingProgram || environmentOf(pid) !== noEnvironment ? "unclear" : false;
}

function carries(environment: string | undefined, mark: Mark): boolean {
  return environment !== undefined && mark.every((entry) => environment.includes(`\0${entry}\0`));
}

/**
 * Kills what carries the mark until a look at all finds none. What is just
 * changing its program shows no mark: it alone is looked at again until it does.
 * A look at all instead might never end where others start programs all the time.
 * @returns the pids it killed, and those that at the end of `limitMs` were still there, or may be marked
 */
export async function killMarked(
  mark: Mark,
  limitMs: number,
): Promise<{ killed: readonly number[]; left: readonly number[] }> {
  const killed = new Set<number>();
  const until = monotonicMs() + limitMs;
  let look = findMarked(mark);
  for (;;) {
    const { marked, unclear } = look;
    for (const pid of marked) {
      killed.add(pid);
      signal(pid, "SIGKILL");
    }
    const left = [...marked, ...unclear];
    if (left.length === 0 || monotonicMs() > until) return { killed: [...killed], left };
    await sleep(marked.length > 0 ? pauseMs.killed : pauseMs.changing);
    look = marked.length > 0 ? findMarked(mark) : findMarked(mark, [...unclear]);
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
