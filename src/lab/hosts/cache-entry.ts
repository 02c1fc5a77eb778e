/**
 * Folders that are slow to build and are built once: `$XDG_CACHE_HOME/escapement/lab/NAME`.
 * A folder is built beside its place and renamed when it is whole, so that
 * whoever sees it may use it. Of two builders one waits for the other.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cacheHome } from "../../base/cache-home.ts";
import { EscapementError, messageOf } from "../../base/errors.ts";
import { makeFolder } from "../../base/make-folder.ts";
import { monotonicMs, sleep } from "../../base/monotonic.ts";
import { processIdentity } from "./process-identity.ts";

/** A builder that is slower than this has hung. */
const waitLimitMs = 20 * 60_000;

export function cacheFolder(): string {
  return join(cacheHome(), "escapement", "lab");
}

/**
 * The folder `name` of the cache, built by `build` when it is not there.
 * @throws whatever `build` throws, with nothing left in the cache; E_UNAVAILABLE when another builder hangs
 */
export async function cached(name: string, build: (folder: string) => Promise<void>): Promise<string> {
  const place = join(cacheFolder(), name);
  if (existsSync(place)) return place;
  try {
    makeFolder(cacheFolder());
  } catch (error) {
    throw new EscapementError(
      "E_UNAVAILABLE",
      {
        what: `the lab's cache cannot be made: ${messageOf(error)}`,
        hint: "name another folder in XDG_CACHE_HOME",
      },
      { cause: error },
    );
  }
  const lock = `${place}.lock`;
  await takeLock(lock);
  try {
    // Another one may have built it while we waited.
    if (existsSync(place)) return place;
    clearUnfinished(name);
    const unfinished = `${place}.building-${process.pid}`;
    try {
      mkdirSync(unfinished, { mode: 0o755 });
      await build(unfinished);
      renameSync(unfinished, place);
    } finally {
      rmSync(unfinished, { recursive: true, force: true });
    }
    return place;
  } finally {
    rmSync(lock, { force: true });
  }
}

/** A builder that was killed leaves its folder; we hold the lock, so it is nobody's. */
function clearUnfinished(name: string): void {
  for (const entry of readdirSync(cacheFolder())) {
    if (entry.startsWith(`${name}.building-`))
      rmSync(join(cacheFolder(), entry), { recursive: true, force: true });
  }
}

async function takeLock(lock: string): Promise<void> {
  const deadline = monotonicMs() + waitLimitMs;
  for (;;) {
    try {
      writeFileSync(lock, processIdentity(process.pid) ?? "", { flag: "wx" });
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
    const holder = readHolder(lock);
    if (holder !== undefined && processIdentity(Number(holder.split(" ")[0])) !== holder) {
      rmSync(lock, { force: true });
      continue;
    }
    if (monotonicMs() > deadline)
      throw new EscapementError("E_UNAVAILABLE", {
        what: "another process has been building the lab's files for 20 minutes",
        hint: `end it, and remove ${lock}`,
      });
    await sleep(250);
  }
}

/** Undefined when the lock is gone, or was made a moment ago and is still empty. */
function readHolder(lock: string): string | undefined {
  try {
    return readFileSync(lock, "utf8") || undefined;
  } catch {
    return undefined;
  }
}
