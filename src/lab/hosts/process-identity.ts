/** Tells a process from another one that got its number later. */
import { readFileSync } from "node:fs";

/** `PID START`, with the start in kernel ticks after boot; undefined when it has ended. */
export function processIdentity(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The name is in parentheses and may itself have spaces and parentheses.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" ? undefined : `${pid} ${fields[19]}`;
  } catch {
    return undefined;
  }
}

/** True while the process that had this identity lives. */
export function isAlive(identity: string): boolean {
  return processIdentity(Number(identity.split(" ")[0])) === identity;
}
