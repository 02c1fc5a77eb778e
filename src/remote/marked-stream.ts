/**
 * One output stream of a command: what comes before the start mark is noise of
 * login shells and of sudo, what comes after it is the command's. Kept up to a
 * limit; the rest is read and dropped, so that the command never blocks.
 */

/** Noise is kept for messages only. */
const longestNoiseBytes = 64 * 1024;

export class MarkedStream {
  readonly #mark: Buffer;
  readonly #maxBytes: number;
  #noise: Buffer = Buffer.alloc(0);
  #chunks: Buffer[] = [];
  #bytes = 0;
  #started = false;
  truncated = false;

  /** @param mark empty: everything is the command's */
  constructor(mark: string, maxBytes: number) {
    this.#mark = Buffer.from(mark);
    this.#started = mark === "";
    this.#maxBytes = maxBytes;
  }

  get started(): boolean {
    return this.#started;
  }

  /** What came before the mark. */
  get noise(): string {
    return this.#noise.toString("utf8");
  }

  get text(): string {
    return Buffer.concat(this.#chunks).toString("utf8");
  }

  /** How often a text stands in what came before the mark. */
  countInNoise(text: string): number {
    return this.noise.split(text).length - 1;
  }

  /** @returns of the chunk what is the command's, also where it is not kept */
  push(chunk: Buffer): Buffer {
    if (this.#started) {
      this.#keep(chunk);
      return chunk;
    }
    const seen = Buffer.concat([this.#noise, chunk]);
    const at = seen.indexOf(this.#mark);
    if (at < 0) {
      this.#noise = seen.length > longestNoiseBytes ? seen.subarray(-longestNoiseBytes) : seen;
      return Buffer.alloc(0);
    }
    this.#noise = seen.subarray(0, at);
    this.#started = true;
    const said = seen.subarray(at + this.#mark.length);
    this.#keep(said);
    return said;
  }

  #keep(chunk: Buffer): void {
    const room = this.#maxBytes - this.#bytes;
    if (chunk.length > room) this.truncated = true;
    if (room <= 0 || chunk.length === 0) return;
    const part = chunk.length > room ? chunk.subarray(0, room) : chunk;
    this.#chunks.push(Buffer.from(part));
    this.#bytes += part.length;
  }
}
