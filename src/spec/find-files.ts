/** Finds the files that paths on a command line mean. */
import { readdir, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "../base/errors.ts";
import { compareText } from "./compare-text.ts";
import type { Problem } from "./problem.ts";

interface Found {
  readonly files: readonly string[];
  readonly problems: readonly Problem[];
}

/**
 * Files as they are; of directories, every *.yaml and *.yml below them, links
 * followed, without folders that begin with a dot and node_modules. Each file
 * once, in the order of the paths, sorted within a directory.
 */
export async function findFiles(paths: readonly string[]): Promise<Found> {
  const files = new Map<string, string>();
  const problems: Problem[] = [];
  const visited = new Set<string>();
  /** What was found below the present path, new or known, readable or not. */
  let seen = 0;
  const complain = (file: string, message: string) =>
    problems.push({ file, line: 0, column: 0, path: "", message });

  const add = (path: string, realPath: string) => {
    if (!files.has(realPath)) files.set(realPath, path);
  };
  const walk = async (directory: string, realDirectory: string): Promise<void> => {
    if (visited.has(realDirectory)) {
      seen++;
      return;
    }
    visited.add(realDirectory);
    const entries = (await readdir(directory, { withFileTypes: true })).sort((a, b) =>
      compareText(a.name, b.name),
    );
    for (const entry of entries) {
      const path = join(directory, entry.name);
      const isYaml = /\.ya?ml$/i.test(entry.name);
      if (isYaml) seen++;
      try {
        const kind = entry.isSymbolicLink() ? await stat(path) : entry;
        if (kind.isDirectory()) {
          if (entry.name.startsWith(".") || entry.name === "node_modules") continue;
          await walk(path, await realpath(path));
        } else if (isYaml)
          add(path, entry.isSymbolicLink() ? await realpath(path) : join(realDirectory, entry.name));
      } catch (error) {
        if (isYaml || entry.isDirectory()) complain(path, `cannot be read: ${messageOf(error)}`);
      }
    }
  };
  for (const path of paths) {
    try {
      if (!(await stat(path)).isDirectory()) add(path, await realpath(path));
      else {
        seen = 0;
        await walk(path, await realpath(path));
        if (seen === 0) complain(path, "is a folder without any *.yaml or *.yml file");
      }
    } catch (error) {
      const missing = (error as NodeJS.ErrnoException).code === "ENOENT";
      complain(path, missing ? "there is no such file or folder" : `cannot be read: ${messageOf(error)}`);
    }
  }
  return { files: [...files.values()], problems };
}
