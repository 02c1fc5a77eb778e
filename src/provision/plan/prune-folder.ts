/** A cache folder that is not to grow for ever. */
import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";

/**
 * Removes all but the `keep` youngest files, by the time they were written. Whoever
 * wants one that is gone makes it anew. Never throws: a cache is no reason to fail.
 * @param minimumAgeMs a younger file is somebody's at work, and stays
 * @returns how many are gone
 */
export async function pruneFolder(folder: string, keep: number, minimumAgeMs: number): Promise<number> {
  try {
    const names = await readdir(folder);
    if (names.length <= keep) return 0;
    const files = await Promise.all(
      names.map(async (name) => {
        const file = join(folder, name);
        const found = await stat(file).catch(() => undefined);
        return { file, writtenAtMs: found?.isFile() ? found.mtimeMs : Number.POSITIVE_INFINITY };
      }),
    );
    const latestMs = Date.now() - minimumAgeMs;
    const old = files
      .sort((a, b) => b.writtenAtMs - a.writtenAtMs)
      .slice(keep)
      .filter(({ writtenAtMs }) => writtenAtMs <= latestMs);
    await Promise.all(old.map(({ file }) => rm(file, { force: true })));
    return old.length;
  } catch {
    return 0;
  }
}
