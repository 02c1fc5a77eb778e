/**
 * PostgreSQL's free space map in miniature: a category of 32 bytes for each
 * page, and a search that goes on from where the last one ended.
 */
const categoryBytes = 32;

export class FreeSpaceMap {
  /** A binary tree of maxima; the leaves are pages. */
  #tree = new Uint8Array(2);
  #size = 1;
  #next = 0;

  /** Notes the free bytes of a page. */
  set(page: number, freeBytes: number): void {
    this.#grow(page + 1);
    let node = this.#size + page;
    this.#tree[node] = Math.min(255, Math.floor(Math.max(0, freeBytes) / categoryBytes));
    for (node >>= 1; node >= 1; node >>= 1) {
      this.#tree[node] = Math.max(this.#tree[2 * node]!, this.#tree[2 * node + 1]!);
    }
  }

  /** A page that is said to have this much room, or -1. */
  find(bytes: number): number {
    const category = Math.ceil(bytes / categoryBytes);
    if (category > 255 || this.#tree[1]! < category) return -1;
    const ahead = this.#search(1, 0, this.#size, category, this.#next);
    const page = ahead >= 0 ? ahead : this.#search(1, 0, this.#size, category, 0);
    this.#next = page + 1;
    return page;
  }

  /** The next search begins with the first page, as after a vacuum: low pages are filled, so that the end may be cut off. */
  rewind(): void {
    this.#next = 0;
  }

  /** Forgets everything at and after `pages`. */
  truncate(pages: number): void {
    for (let page = pages; page < this.#size; page++)
      if (this.#tree[this.#size + page]! > 0) this.set(page, 0);
  }

  #search(node: number, low: number, width: number, category: number, from: number): number {
    if (this.#tree[node]! < category || low + width <= from) return -1;
    if (width === 1) return low;
    const half = width / 2;
    const left = this.#search(2 * node, low, half, category, from);
    return left >= 0 ? left : this.#search(2 * node + 1, low + half, half, category, from);
  }

  #grow(pages: number): void {
    if (pages <= this.#size) return;
    let size = this.#size;
    while (size < pages) size *= 2;
    const old = this.#tree.slice(this.#size);
    this.#tree = new Uint8Array(2 * size);
    this.#tree.set(old, size);
    this.#size = size;
    for (let node = size - 1; node >= 1; node--) {
      this.#tree[node] = Math.max(this.#tree[2 * node]!, this.#tree[2 * node + 1]!);
    }
  }
}
