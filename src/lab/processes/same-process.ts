/** Tells a process from another one that got its number later, with or without /proc. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { processIdentity } from "../hosts/process-identity.ts";

export interface StartedProcess {
  readonly pid: number;
  /** What {@link startOf} said when it was written down. */
  readonly startedAt: string;
}

/** When a process was started, as text that only it has; undefined when it has ended. */
export async function startOf(pid: number): Promise<string | undefined> {
  if (existsSync("/proc/self/stat")) return processIdentity(pid);
  // POSIX, with an accuracy of one second.
  const text = await new Promise<string>((resolve) => {
    execFile(
      "ps",
      ["-o", "lstart=", "-p", String(pid)],
      { env: { PATH: "/usr/bin:/bin", LC_ALL: "C" } },
      (error, out) => resolve(error ? "" : out.trim()),
    );
  });
  return text === "" ? undefined : text;
}

export async function isSameProcess({ pid, startedAt }: StartedProcess): Promise<boolean> {
  return (await startOf(pid)) === startedAt;
}
