/** An archive in a folder: a mounted share, a second disk. */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { copyFile, mkdir, open, readdir, rename, rm, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { EscapementError, messageOf } from "../../base/errors.ts";
import type { ArchiveItem, LogArchive } from "./archive.ts";
import { instantOfKey } from "./log-key.ts";

export class FolderArchive implements LogArchive {
  readonly place: string;

  constructor(folder: string) {
    this.place = folder;
  }

  async store(item: ArchiveItem): Promise<void> {
    const target = join(this.place, item.key);
    const part = `${target}.part`;
    try {
      await mkdir(dirname(target), { recursive: true });
      await copyFile(item.file, part);
      const file = await open(part, "r");
      await file.sync();
      await file.close();
      if ((await sha256Of(part)) !== item.sha256) throw new Error("it reads back as something else");
      await rename(part, target);
      const folder = await open(dirname(target), "r");
      await folder.sync();
      await folder.close();
    } catch (error) {
      await rm(part, { force: true }).catch(() => {});
      throw new EscapementError(
        "E_LOG_ARCHIVE",
        { place: target, reason: messageOf(error) },
        { cause: error },
      );
    }
  }

  async prune(before: Date): Promise<number> {
    let removed = 0;
    const look = async (folder: string): Promise<void> => {
      for (const entry of await readdir(folder, { withFileTypes: true })) {
        const path = join(folder, entry.name);
        if (entry.isDirectory()) {
          await look(path);
          // Only an empty one goes.
          await rmdir(path).catch(() => {});
        } else if (entry.isFile() && (instantOfKey(entry.name) ?? before) < before) {
          await rm(path, { force: true });
          removed += 1;
        }
      }
    };
    await look(this.place);
    return removed;
  }
}

/** Lower-case hex. */
export async function sha256Of(file: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file), hash);
  return hash.digest("hex");
}
