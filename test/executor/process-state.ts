/** Whether a process still runs code; one that waits to be collected by its parent does not. */
import { processStat } from "../../src/executor/host-facts.ts";

export function isRunning(pid: number): boolean {
  const state = processStat(pid)?.state;
  return state !== undefined && state !== "Z" && state !== "X";
}
