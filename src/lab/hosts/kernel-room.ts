/**
 * Limits of the kernel that all hosts of all labs on this machine share, because
 * they are all root of the same user namespace. A host takes seven or eight inotify
 * instances, so that Debian's 128 are gone with the third lab, and the next host's
 * systemd ends with "Failed to allocate manager object". Raised while a lab is
 * there; the last one that goes puts the old value back.
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { labsFolder } from "./lab-place.ts";

const setting = "/proc/sys/fs/inotify/max_user_instances";
const wanted = 4_096;

/** Holds the value from before the first lab. */
const noteFile = join(labsFolder, ".inotify-instances");

/** To be called once the lab has its folder. Does nothing where it may not. */
export function makeRoom(): void {
  try {
    const now = Number(readFileSync(setting, "utf8"));
    if (now >= wanted) return;
    // Of two labs that start at once the first one's note stays.
    writeFileSync(noteFile, String(now), { flag: "wx", mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") return;
  }
  write(wanted);
}

/** To be called once the lab's folder is gone. */
export function giveRoomBack(): void {
  if (anyLab()) return;
  try {
    const before = Number(readFileSync(noteFile, "utf8"));
    rmSync(noteFile, { force: true });
    if (before > 0) write(before);
  } catch {
    return;
  }
  // One began at this very moment.
  if (anyLab()) makeRoom();
}

function anyLab(): boolean {
  try {
    return readdirSync(labsFolder).some((name) => !name.startsWith("."));
  } catch {
    return false;
  }
}

function write(value: number): void {
  try {
    writeFileSync(setting, String(value));
  } catch {
    // Not ours to change here: few hosts do without.
  }
}
