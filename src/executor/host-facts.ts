/**
 * Which process this is, on which boot of which host, and whether another one
 * still lives. Linux tells it through /proc; elsewhere an earlier process is
 * never taken for gone, and its lease is waited for.
 */
import { randomUUID } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

export interface HostFacts {
  readonly host: string;
  /** Boot and process namespace: a pid means something only inside both. */
  readonly bootId: string;
  readonly pid: number;
  /** Start of this process in clock ticks since boot, or a value that matches nothing. */
  readonly processStart: string;
}

export function readHostFacts(): HostFacts {
  const boot = tryRead("/proc/sys/kernel/random/boot_id")?.trim();
  const namespace = tryLink("/proc/self/ns/pid");
  const start = processStat(process.pid)?.start;
  return {
    host: hostname(),
    bootId: boot && namespace ? `${boot} ${namespace}` : `unknown ${randomUUID()}`,
    pid: process.pid,
    processStart: start ?? `unknown ${randomUUID()}`,
  };
}

/**
 * Whether the process with this number and start time is gone. A zombie is
 * gone: it runs no code any more. Only meaningful on the same boot and namespace.
 */
export function isProcessGone(pid: number, processStart: string): boolean {
  const stat = processStat(pid);
  return stat === undefined || stat.start !== processStart || stat.state === "Z" || stat.state === "X";
}

export interface ProcessStat {
  /** One letter: R running, S sleeping, T stopped, Z zombie, X dead. */
  readonly state: string;
  /** In clock ticks since boot. */
  readonly start: string;
  /**
   * It is between two programs: the old one is gone, and the kernel has not noted yet where the new one's
   * environment lies, so that it reads as empty.
   */
  readonly changingProgram: boolean;
}

/** Of the flags of a process: it is a thread of the kernel, or on its way out. Neither will run a program. */
const kernelThread = 0x0020_0000;
const exiting = 0x4;

/**
 * Fields 3 (state), 9 (flags), 22 (start time) and 51 (end of the environment) of /proc/PID/stat; undefined
 * when there is no such process.
 */
export function processStat(pid: number): ProcessStat | undefined {
  const text = tryRead(`/proc/${pid}/stat`);
  // The second field is the program's name in parentheses, and may hold blanks and parentheses.
  const fields = text?.slice(text.lastIndexOf(")") + 2).split(" ");
  const [state, flags, start, environmentEnd] = [0, 6, 19, 48].map((index) => fields?.[index]);
  if (state === undefined || start === undefined) return undefined;
  const runsPrograms = !/[ZX]/.test(state) && (Number(flags) & (kernelThread | exiting)) === 0;
  return { state, start, changingProgram: runsPrograms && environmentEnd === "0" };
}

function tryRead(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

function tryLink(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
