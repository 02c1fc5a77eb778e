/** How many rows share a page, and what a few bytes more or less would change. */
import { heapUsable, linePointerBytes, maxAlign, pageBytes } from "./page.ts";

export interface PageFit {
  readonly tupleBytes: number;
  readonly rowsPerPage: number;
  /** Table bytes a row takes: a page divided by its rows. */
  readonly bytesPerRow: number;
  /** Taking so many bytes off every row lets one more fit; and what that saves. */
  readonly trim: { readonly bytes: number; readonly saves: number };
}

/** @param tupleBytes length of the row with header, before it is rounded up */
export function pageFit(tupleBytes: number): PageFit {
  const stored = maxAlign(tupleBytes) + linePointerBytes;
  const rowsPerPage = Math.max(1, Math.floor(heapUsable / stored));
  const smaller = Math.floor(heapUsable / (rowsPerPage + 1));
  // The stored length is a multiple of 8: the largest one that fits once more.
  const fits = Math.floor((smaller - linePointerBytes) / 8) * 8;
  return {
    tupleBytes,
    rowsPerPage,
    bytesPerRow: pageBytes / rowsPerPage,
    trim: { bytes: Math.max(0, tupleBytes - fits), saves: 1 - rowsPerPage / (rowsPerPage + 1) },
  };
}
