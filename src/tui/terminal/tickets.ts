/**
 * Rows travel through ink as tickets.
 *
 * Ink takes every text apart into styled cells on every frame and keeps each text
 * it has ever measured. For a screen full of coloured text that is most of the
 * time of a frame, and memory that only grows. So ink is given a short ticket for
 * each row: it lays out, compares and writes those, and the stream that it writes
 * to puts the row in the ticket's place. Ticket and row belong together as long
 * as the row is in use: an unchanged row keeps its ticket, and is not written again.
 */

/** From the private-use area: nobody else writes these. */
const open = "\ue000";
const close = "\ue001";

/** Columns of a ticket. */
export const ticketWidth = 10;

/** Frames whose rows are kept: one that ink writes late may be a few behind. */
const keptFrames = 4;

export class Tickets {
  #frames: ReadonlyMap<string, number>[] = [];
  #rows = new Map<number, string>();
  #next = 0;
  #renewed = false;

  /** The tickets of the rows of one frame, in their order. What no late frame uses is forgotten. */
  frame(rows: readonly string[]): string[] {
    const before = this.#renewed ? undefined : this.#frames.at(-1);
    this.#renewed = false;
    const numbers = new Map<string, number>();
    const tickets = rows.map((row) => {
      const number = numbers.get(row) ?? before?.get(row) ?? this.#next++;
      numbers.set(row, number);
      this.#rows.set(number, row);
      return `${open}${number.toString(36).padStart(ticketWidth - 2, "0")}${close}`;
    });
    this.#frames = [...this.#frames.slice(1 - keptFrames), numbers];
    const kept = new Set(this.#frames.flatMap((frame) => [...frame.values()]));
    for (const number of this.#rows.keys()) if (!kept.has(number)) this.#rows.delete(number);
    return tickets;
  }

  /** From the next frame on every row has a new ticket, so that all of them are written. */
  renew(): void {
    this.#renewed = true;
  }

  /** Puts rows in the place of their tickets. */
  redeem(text: string): string {
    return text.replace(
      /\ue000([0-9a-z]+)\ue001/g,
      (_, number: string) => this.#rows.get(Number.parseInt(number, 36)) ?? "",
    );
  }
}
