/** The constants of PostgreSQL's pages and of its write-ahead log that the storage model needs (versions 15 to 18). */

export const pageBytes = 8_192;
/** A heap page without its header. */
export const heapUsable = pageBytes - 24;
/** An index page without its header and the b-tree's own footer. */
export const btreeUsable = pageBytes - 24 - 16;
export const linePointerBytes = 4;
/** More line pointers than this are never made on a heap page. */
export const mostHeapLines = 291;
/** Tuples above this are compressed and moved out of line. */
export const toastThreshold = 2_032;
/** Heap row header before the null bitmap. */
export const tupleHeaderBytes = 23;
export const indexTupleHeaderBytes = 8;
/** A row pointer in a posting list. */
export const tidBytes = 6;

/** Rounds up to the alignment of a row: 8 bytes. */
export function maxAlign(bytes: number): number {
  return (bytes + 7) & ~7;
}

/** Rounds up to `alignment`. */
export function alignTo(bytes: number, alignment: number): number {
  return Math.ceil(bytes / alignment) * alignment;
}
