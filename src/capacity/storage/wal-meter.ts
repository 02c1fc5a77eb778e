/**
 * Counts write-ahead log bytes: record headers, block references, payloads, and
 * full page images after a checkpoint, padded and framed as PostgreSQL does.
 */
import { maxAlign, pageBytes } from "./page.ts";

/** A page as the meter sees it. */
export interface LoggedPage {
  /** Bytes not in the hole between line pointers and rows: what a full image holds. */
  filledBytes(): number;
  /** The checkpoint since which this page has been logged whole, or made anew. */
  imageAt: number;
}

export interface BlockWrite {
  readonly page: LoggedPage;
  /** Bytes of the record that belong to this block; left out when an image is logged, unless `always`. */
  readonly bytes: number;
  /** The page is new: it is never logged as an image. */
  readonly isNew?: boolean;
}

const recordHeader = 24;
const mainHeader = 2;
const firstBlockHeader = 20;
const sameRelationBlockHeader = 8;
const imageHeader = 5;
/** Each 8 KiB of log carries a header of 24 bytes. */
const framing = pageBytes / (pageBytes - 24);

export type WalKind = "heap" | "index" | "image" | "commit" | "vacuum";

export class WalMeter {
  #checkpoint = 0;
  readonly #bytes: Record<WalKind, number> = { heap: 0, index: 0, image: 0, commit: 0, vacuum: 0 };

  /** From here on the first change of a page logs it whole. */
  checkpoint(): void {
    this.#checkpoint++;
  }

  /** One record. @param mainBytes its own data. @param blocks what it changes, all of one relation. */
  record(kind: WalKind, mainBytes: number, blocks: readonly BlockWrite[]): void {
    let bytes = recordHeader + mainHeader + mainBytes;
    let images = 0;
    blocks.forEach(({ page, bytes: blockBytes, isNew }, i) => {
      bytes += i === 0 ? firstBlockHeader : sameRelationBlockHeader;
      if (!isNew && page.imageAt < this.#checkpoint) images += imageHeader + page.filledBytes();
      else bytes += blockBytes;
      page.imageAt = this.#checkpoint;
    });
    this.#bytes[kind] += maxAlign(bytes);
    this.#bytes.image += images;
  }

  /** A record that touches no block of a table: a commit, a sequence step. */
  plain(kind: WalKind, bytes: number): void {
    this.#bytes[kind] += maxAlign(bytes);
  }

  /** Everything so far, framed. */
  get total(): number {
    return Object.values(this.#bytes).reduce((sum, bytes) => sum + bytes, 0) * framing;
  }

  /** The same by kind of record. */
  byKind(): Readonly<Record<WalKind, number>> {
    return { ...this.#bytes };
  }
}
