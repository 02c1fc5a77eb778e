/** Makes the data folder of a throw-away PostgreSQL server. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { EscapementError } from "../base/errors.ts";
import type { PostgresBinaries } from "./postgres-binaries.ts";
import { spawnTethered } from "./tether.ts";
import type { UnixUser } from "./unprivileged-user.ts";

/**
 * Fills `directory`/data. Nothing of it is synced to disk: it is new, a crash now only means a new try.
 * @throws E_UNAVAILABLE with what initdb said
 */
export async function initialiseData(
  binaries: PostgresBinaries,
  directory: string,
  user: UnixUser | undefined,
): Promise<void> {
  const data = join(directory, "data");
  const options = [
    "-U",
    "postgres",
    "-A",
    "trust",
    "-E",
    "UTF8",
    "--locale=C",
    "--no-sync",
    "--no-instructions",
  ];
  const initdb = await spawnTethered({
    command: [join(binaries.folder, "initdb"), "-D", data, ...options],
    environment: plainEnvironment(),
    workingFolder: directory,
    user,
    stdout: "pipe",
    stderr: "pipe",
  });
  let output = "";
  for (const stream of [initdb.child.stdout, initdb.child.stderr])
    stream?.on("data", (chunk) => (output += chunk));
  const { code } = await initdb.exited;
  if (code !== 0) {
    throw new EscapementError("E_UNAVAILABLE", {
      what: `initdb failed: ${output.trim().split("\n").slice(-3).join(" / ")}`,
      hint: `check the free space and the permissions of ${directory}`,
    });
  }
  const file = join(data, "postgresql.conf");
  writeFileSync(file, "\ntimezone = 'UTC'\nlog_timezone = 'UTC'\ninclude = 'escapement.conf'\n", {
    flag: "a",
  });
}

/** Our environment without the variables that PostgreSQL's programs and the C library would listen to. */
export function plainEnvironment(): Record<string, string | undefined> {
  const kept = Object.entries(process.env).filter(([name]) => !/^(PG|LC_|LANG$|TZ$|LD_PRELOAD$)/.test(name));
  return { ...Object.fromEntries(kept), LC_ALL: "C", TZ: "UTC" };
}
