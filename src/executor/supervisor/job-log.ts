/**
 * The log file of one job on this node, shared by all of its attempts that run
 * now, rotated by size and by day (UTC): `name.log`, `name.log.1` (the one
 * before), and so on. What is old is therefore in files that nobody writes to.
 *
 * Output never holds up a child for long: what cannot be written (disk full,
 * folder gone or read-only, a disk that hangs) is dropped and counted, and the
 * file is tried again a second later.
 */
import { mkdir, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { messageOf } from "../../base/errors.ts";
import { monotonicMs } from "../../base/monotonic.ts";
import type { LogTarget } from "./protocol.ts";

type FileHandle = Awaited<ReturnType<typeof open>>;

/** Above this, readers should pause. */
const fullBytes = 1 << 20;
/** A write that takes longer than this counts as a disk that hangs. */
const stallMs = 1_000;
/** How long a file that failed is left alone. */
const retryAfterMs = 1_000;
/** Trouble is told no more often than this. */
const tellEveryMs = 2_000;

export class JobLog {
  #file: FileHandle | undefined;
  #size = 0;
  /** UTC day of the last write; a new day begins a new file. */
  #day = "";
  #queue: Buffer[] = [];
  #queuedBytes = 0;
  #writing: Promise<void> | undefined;
  #busySinceMs = 0;
  #brokenUntilMs = 0;
  #brokenBy = "";
  #droppedBytes = 0;
  #toldMs = Number.NEGATIVE_INFINITY;
  #users = 0;
  #drained: (() => void)[] = [];

  /** @param onTrouble told why, and how much was dropped in all, whenever something is dropped */
  constructor(
    readonly target: Pick<LogTarget, "file" | "maxFileBytes" | "keepFiles">,
    readonly onTrouble: (reason: string, droppedBytes: number) => void,
  ) {}

  open(): void {
    this.#users += 1;
  }

  /** @returns false once nobody uses it any more; the file is closed when all is written */
  async release(): Promise<boolean> {
    this.#users -= 1;
    if (this.#users > 0) return true;
    await this.#writing;
    if (this.#users > 0) return true;
    await this.#close();
    return this.#users > 0;
  }

  /** Takes whole lines. */
  write(text: string): void {
    // A burst that fills several files is cut between lines.
    for (const piece of pieces(text, this.target.maxFileBytes)) this.#take(Buffer.from(piece));
  }

  #take(chunk: Buffer): void {
    const now = monotonicMs();
    const stalled = this.isFull() && now - this.#busySinceMs > stallMs;
    if (stalled || now < this.#brokenUntilMs) {
      this.#drop(chunk.length, stalled ? "the disk does not take it in time" : this.#brokenBy);
      return;
    }
    this.#queue.push(chunk);
    this.#queuedBytes += chunk.length;
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined;
    });
  }

  /** So much waits that readers should pause. */
  isFull(): boolean {
    return this.#queuedBytes > fullBytes;
  }

  /** Called once, when there is room again, or after a second: a child must not wait for a disk that hangs. */
  whenRoom(callback: () => void): void {
    const timer = setTimeout(done, stallMs);
    const list = this.#drained;
    function done() {
      clearTimeout(timer);
      const at = list.indexOf(done);
      if (at >= 0) list.splice(at, 1);
      callback();
    }
    list.push(done);
  }

  async #writeAll(): Promise<void> {
    while (this.#queue.length > 0) {
      const chunk = this.#queue.shift()!;
      this.#busySinceMs = monotonicMs();
      try {
        await this.#writeChunk(chunk);
      } catch (error) {
        this.#brokenBy = messageOf(error);
        this.#brokenUntilMs = monotonicMs() + retryAfterMs;
        const lost = this.#queuedBytes;
        this.#queue = [];
        await this.#close();
        this.#drop(lost, this.#brokenBy);
        this.#queuedBytes = 0;
        this.#tellRoom();
        return;
      }
      this.#queuedBytes -= chunk.length;
      if (!this.isFull()) this.#tellRoom();
    }
  }

  async #writeChunk(chunk: Buffer): Promise<void> {
    this.#file ??= await this.#openFile();
    const today = dayOf(new Date());
    const full = this.#size + chunk.length > this.target.maxFileBytes;
    if (this.#size > 0 && (full || this.#day !== today)) {
      await this.#rotate();
      this.#file = await this.#openFile();
    }
    this.#day = today;
    let written = 0;
    while (written < chunk.length) {
      const { bytesWritten } = await this.#file.write(chunk, written);
      written += bytesWritten;
      this.#size += bytesWritten;
    }
  }

  async #openFile(): Promise<FileHandle> {
    await mkdir(dirname(this.target.file), { recursive: true });
    const file = await open(this.target.file, "a", 0o640);
    const { size, mtime } = await file.stat();
    this.#size = size;
    this.#day = dayOf(mtime);
    return file;
  }

  async #rotate(): Promise<void> {
    await this.#close();
    const { file, keepFiles } = this.target;
    await rm(`${file}.${keepFiles}`, { force: true });
    for (let n = keepFiles - 1; n >= 0; n -= 1) {
      await rename(n === 0 ? file : `${file}.${n}`, `${file}.${n + 1}`).catch((error) => {
        if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
      });
    }
  }

  async #close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.close().catch(() => {});
  }

  #drop(bytes: number, reason: string): void {
    this.#droppedBytes += bytes;
    const now = monotonicMs();
    if (now - this.#toldMs < tellEveryMs) return;
    this.#toldMs = now;
    this.onTrouble(reason, this.#droppedBytes);
  }

  #tellRoom(): void {
    for (const callback of [...this.#drained]) callback();
  }
}

function dayOf(instant: Date): string {
  return instant.toISOString().slice(0, 10);
}

/** Whole lines, no more than `limitBytes` together where a line allows it. */
function pieces(text: string, limitBytes: number): string[] {
  if (Buffer.byteLength(text) <= limitBytes) return [text];
  const found: string[] = [];
  let piece = "";
  let size = 0;
  for (const line of text.split(/(?<=\n)/)) {
    const bytes = Buffer.byteLength(line);
    if (size > 0 && size + bytes > limitBytes) {
      found.push(piece);
      piece = "";
      size = 0;
    }
    piece += line;
    size += bytes;
  }
  return [...found, piece];
}
