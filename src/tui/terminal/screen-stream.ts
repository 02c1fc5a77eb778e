/**
 * What ink takes for the terminal. It writes through to the real one, but
 * - tickets become rows,
 * - every frame begins at the upper left corner, wherever ink believes the cursor
 *   to be: its count of lines upwards is one short where a frame ends in a new line,
 * - it claims to be very high: ink clears terminal and scrollback when what it
 *   draws reaches the height, for example after the window was made smaller,
 * - it never speaks of a new size: ink would draw the old frame once more, broken
 *   at the new width; the application redraws everything instead.
 */
import { EventEmitter } from "node:events";
import type { Tickets } from "./tickets.ts";

const higherThanAny = 100_000;
/** How ink begins a frame: lines erased, the cursor moved up. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: terminal codes begin with ESC
const wayUp = /^(?:\x1b\[(?:2K|\d*A|G))+/;

export class ScreenStream extends EventEmitter {
  readonly isTTY = true;
  readonly rows = higherThanAny;
  /** Ink lays out tickets, not rows. */
  readonly columns = 80;
  readonly writable = true;
  readonly #terminal: NodeJS.WriteStream;
  readonly #tickets: Tickets;
  #closed = false;

  constructor(terminal: NodeJS.WriteStream, tickets: Tickets) {
    super();
    this.#terminal = terminal;
    this.#tickets = tickets;
  }

  write(text: string): boolean {
    if (this.#closed) return true;
    return this.#terminal.write(this.#tickets.redeem(text.replace(wayUp, "\x1b[H")));
  }

  /** From now on nothing is written: the terminal is somebody else's again. */
  close(): void {
    this.#closed = true;
  }
}
