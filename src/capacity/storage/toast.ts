/** Records too wide for a page: their text is stored beside the table, in pieces. */
import { heapUsable, maxAlign, pageBytes, toastThreshold } from "./page.ts";

/** Bytes of text in one piece. */
const pieceBytes = 1_996;
/** What stays in the row: a pointer. */
export const pointerBytes = 18;
/** Header, value number, piece number and length of one piece. */
const pieceOverhead = 24 + 4 + 4 + 4;
const indexEntry = 20 / 0.9;

export interface OutOfLine {
  readonly bytesPerRow: number;
  readonly indexBytesPerRow: number;
  readonly pieces: number;
}

/** True when PostgreSQL moves the row's text out of line. */
export function isOutOfLine(tupleBytes: number): boolean {
  return tupleBytes > toastThreshold;
}

/** @param textBytes as stored: after compression, if any. */
export function outOfLine(textBytes: number): OutOfLine {
  const pieces = Math.ceil(textBytes / pieceBytes);
  const whole = Math.floor(textBytes / pieceBytes);
  const rest = textBytes - whole * pieceBytes;
  const perPage = Math.floor(heapUsable / (maxAlign(pieceOverhead + pieceBytes) + 4));
  const bytesPerRow = (whole * pageBytes) / perPage + (rest > 0 ? maxAlign(pieceOverhead + rest) + 4 : 0);
  return { bytesPerRow, indexBytesPerRow: pieces * indexEntry, pieces };
}
