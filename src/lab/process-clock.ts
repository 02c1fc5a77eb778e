/**
 * A wall clock of its own for one process: a process-level clock, made by a
 * preloaded library (libfaketime). It shifts what the process and its children
 * read as the time of day; monotonic time, the kernel and every other process
 * stay as they are. That is not the same as a host whose clock is wrong, and
 * every report must call it what it is: {@link processClockLabel}.
 */
import { existsSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { EscapementError } from "../base/errors.ts";
import { sleep } from "../base/monotonic.ts";

/** How reports name faults made with it. */
export const processClockLabel = "process-level clock";

/** The library looks at its file again when its clock shows more than this many whole seconds later. */
const cacheSeconds = 1;

/** The preloaded library, or undefined: then clock faults are unknown here. */
export function findClockLibrary(): string | undefined {
  const root = "/usr/lib";
  if (!existsSync(root)) return undefined;
  return readdirSync(root)
    .map((folder) => join(root, folder, "faketime/libfaketimeMT.so.1"))
    .find((library) => existsSync(library));
}

export class ProcessClock {
  readonly #file: string;
  readonly #library: string;
  #offsetMs = 0;

  /** @param file where the offset is kept; the process must be able to read it. @throws E_PROGRAM_MISSING */
  constructor(file: string) {
    const library = findClockLibrary();
    if (library === undefined) {
      throw new EscapementError("E_PROGRAM_MISSING", {
        program: "libfaketime (for faults of a process-level clock)",
        hint: "on Debian: apt-get install libfaketime; without it clock faults are unknown",
      });
    }
    this.#library = library;
    this.#file = file;
    this.#write(0);
  }

  /** What the process sees, minus the true time. */
  get offsetMs(): number {
    return this.#offsetMs;
  }

  /** To be added to the environment of the process. */
  get environment(): Readonly<Record<string, string>> {
    return {
      LD_PRELOAD: this.#library,
      FAKETIME_TIMESTAMP_FILE: this.#file,
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
      FAKETIME_CACHE_DURATION: String(cacheSeconds),
    };
  }

  /** Steps the clock; returns when every running process must have seen it. */
  async set(offsetMs: number): Promise<void> {
    this.#write(offsetMs);
    await sleep((cacheSeconds + 1) * 1_000 + 100);
  }

  /** The library leaves two small files in memory behind a process that was killed; takes them away. */
  forget(pid: number): void {
    for (const name of [`sem.faketime_sem_${pid}`, `faketime_shm_${pid}`])
      rmSync(join("/dev/shm", name), { force: true });
  }

  #write(offsetMs: number): void {
    const seconds = offsetMs / 1_000;
    // Renamed into place, so that nobody reads half a number.
    writeFileSync(`${this.#file}.new`, `${seconds < 0 ? "-" : "+"}${Math.abs(seconds)}\n`, { mode: 0o644 });
    renameSync(`${this.#file}.new`, this.#file);
    this.#offsetMs = offsetMs;
  }
}
