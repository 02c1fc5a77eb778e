/**
 * The user that throw-away servers run as. PostgreSQL refuses to run as root,
 * so root lends its servers another user and a place that this user can enter.
 */
import { spawnSync } from "node:child_process";
import { chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EscapementError } from "../base/errors.ts";

export interface UnixUser {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/** The user to lend: `postgres` where it exists, else `nobody`. Undefined when we are not root ourselves. */
export function unprivilegedUser(): UnixUser | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const users = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .map((line) => line.split(":"));
  for (const name of ["postgres", "nobody"]) {
    const fields = users.find((candidate) => candidate[0] === name);
    if (fields) return { name, uid: Number(fields[2]), gid: Number(fields[3]) };
  }
  throw new EscapementError("E_UNAVAILABLE", {
    what: "a server cannot be started as root, and there is no user postgres or nobody to lend it",
    hint: "create one with useradd --system nobody, or run as a normal user",
  });
}

/** True when `user` (undefined: ourselves) can enter `folder`; every folder above it counts. */
export function canEnter(folder: string, user: UnixUser | undefined): boolean {
  const identity = user ? { uid: user.uid, gid: user.gid } : {};
  return (
    spawnSync("/bin/sh", ["-c", 'cd "$1"', "sh", folder], { ...identity, cwd: "/", stdio: "ignore" })
      .status === 0
  );
}

/**
 * Makes a temporary folder, mode 0700, that belongs to `user` and that this user can reach.
 * @throws E_UNAVAILABLE when neither the temporary folder of the environment, /tmp nor /var/tmp will do
 */
export function temporaryFolder(prefix: string, user: UnixUser | undefined): string {
  for (const parent of new Set([tmpdir(), "/tmp", "/var/tmp"])) {
    let folder: string;
    try {
      folder = mkdtempSync(join(parent, prefix));
    } catch {
      continue;
    }
    if (user) chownSync(folder, user.uid, user.gid);
    if (canEnter(folder, user)) return folder;
    rmSync(folder, { recursive: true });
  }
  throw new EscapementError("E_UNAVAILABLE", {
    what: `user ${user?.name ?? "(ours)"} can enter no temporary folder`,
    hint: "make /tmp writable, or set TMPDIR to a folder that every user can enter",
  });
}

/** Makes `folder` if need be, mode 0700, and gives it to `user`. @throws E_UNAVAILABLE when that user cannot reach it */
export function ownedFolder(folder: string, user: UnixUser | undefined): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (user) chownSync(folder, user.uid, user.gid);
  if (canEnter(folder, user)) return;
  throw new EscapementError("E_UNAVAILABLE", {
    what: `user ${user?.name ?? "(ours)"} cannot enter ${folder}`,
    hint: "choose a folder below one that every user can enter, for example under /var/lib or /tmp",
  });
}
