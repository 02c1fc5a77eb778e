/** Cuts a stream of text into lines. */

export class LineSplitter {
  #rest = "";

  /** @param maxLength a longer line is cut into pieces of this many characters */
  constructor(readonly maxLength = Number.POSITIVE_INFINITY) {}

  /** The lines that are complete with this piece, without their ends. */
  push(text: string): string[] {
    const parts = (this.#rest + text).split("\n");
    this.#rest = parts.pop() ?? "";
    const lines = parts.flatMap((line) => this.#cut(line.endsWith("\r") ? line.slice(0, -1) : line));
    while (this.#rest.length > this.maxLength) {
      lines.push(this.#rest.slice(0, this.maxLength));
      this.#rest = this.#rest.slice(this.maxLength);
    }
    return lines;
  }

  /** What came after the last line end. */
  end(): string[] {
    const rest = this.#rest;
    this.#rest = "";
    return rest === "" ? [] : this.#cut(rest);
  }

  #cut(line: string): string[] {
    if (line.length <= this.maxLength) return [line];
    const pieces: string[] = [];
    for (let i = 0; i < line.length; i += this.maxLength) pieces.push(line.slice(i, i + this.maxLength));
    return pieces;
  }
}
