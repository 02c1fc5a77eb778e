/** A page of a simulated heap: how its room and its line pointers are used. */
import { heapUsable, linePointerBytes, mostHeapLines } from "./page.ts";
import type { LoggedPage } from "./wal-meter.ts";

export class HeapPage implements LoggedPage {
  /** Bytes of rows. */
  used = 0;
  isFull = false;
  /** Since the last vacuum that found every row visible to all. */
  changed = true;
  /** Versions ended but still in place. */
  ended: number[] = [];
  imageAt = -1;
  /** Per line pointer: true while a row, a redirect or a dead entry needs it. */
  #lines: boolean[] = [];
  #unused = 0;
  /** Line pointers that only vacuum can free, because an index still points at them. */
  #dead: number[] = [];

  get lineCount(): number {
    return this.#lines.length;
  }

  get deadLines(): number {
    return this.#dead.length;
  }

  /** Room for one more row; a new line pointer is always set aside. */
  free(): number {
    if (this.#lines.length >= mostHeapLines && this.#unused === 0) return 0;
    return Math.max(0, heapUsable - (this.#lines.length + 1) * linePointerBytes - this.used);
  }

  filledBytes(): number {
    return 24 + this.#lines.length * linePointerBytes + this.used;
  }

  /** Takes the first free line pointer, or a new one. */
  takeLine(): number {
    if (this.#unused === 0) return this.#lines.push(true) - 1;
    const line = this.#lines.indexOf(false);
    this.#lines[line] = true;
    this.#unused--;
    return line;
  }

  /** A row that no index points at is gone. */
  freeLine(line: number): void {
    this.#lines[line] = false;
    this.#unused++;
  }

  /** A row is gone that indexes still point at. */
  killLine(line: number): void {
    this.#dead.push(line);
  }

  /** After the indexes have been cleaned: dead line pointers are free, and free ones at the end are gone. */
  freeDeadLines(): void {
    for (const line of this.#dead) this.freeLine(line);
    this.#dead = [];
    while (this.#lines.length > 1 && this.#lines.at(-1) === false) {
      this.#lines.pop();
      this.#unused--;
    }
  }

  get isEmpty(): boolean {
    return this.#lines.length === this.#unused;
  }
}
