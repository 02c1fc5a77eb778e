/**
 * Makes a folder that somebody has named, with those above it. The recursive
 * mkdir of Node 20 spins for ever where a file system refuses with "no such
 * file" (below /proc, for example), and cannot be interrupted; this gives up.
 */
import { mkdirSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";

/** @param mode permission bits of the folders that are made. @throws the error of the file system */
export function makeFolder(path: string, mode?: number): void {
  const missing: string[] = [];
  for (let at = resolve(path); !exists(at); at = dirname(at)) missing.unshift(at);
  for (const folder of missing) {
    try {
      mkdirSync(folder, mode);
    } catch (error) {
      // Somebody else may have made it a moment ago.
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  }
}

function exists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}
