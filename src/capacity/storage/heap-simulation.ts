/**
 * A heap table, page by page, without its contents: where PostgreSQL places
 * rows and new versions of rows, what pruning and vacuum give back, and what
 * all this writes to the log.
 *
 * One writer at a time; `commit` ends a transaction. A version that a finished
 * transaction replaced or deleted is dead, and its room is given back when its
 * page is next looked at and short of room, or by `vacuum`.
 */
import { FreeSpaceMap } from "./free-space-map.ts";
import { HeapPage } from "./heap-page.ts";
import { maxAlign, pageBytes, tupleHeaderBytes } from "./page.ts";
import type { WalMeter } from "./wal-meter.ts";

/** Names one version of a row. */
export type Version = number;

/** The log record that marks a page all-visible. */
const visibleRecord = 59;

export interface UpdateResult {
  readonly version: Version;
  /** True when the new version sits on the old page and the indexes were not touched. */
  readonly isHot: boolean;
}

export class HeapSimulation {
  readonly #wal: WalMeter;
  readonly #reserve: number;
  readonly #pages: HeapPage[] = [];
  readonly #map = new FreeSpaceMap();
  #target = -1;
  #transaction = 1;
  // Per version, by number.
  readonly #page: number[] = [];
  readonly #line: number[] = [];
  readonly #bytes: number[] = [];
  readonly #endedIn: number[] = [];
  /** The version that indexes point at for this one. */
  readonly #root: Version[] = [];
  /** Per root: the transaction that ended the whole chain; 0 while it lives. */
  readonly #chainEndedIn: number[] = [];
  #rows = 0;
  #hotUpdates = 0;
  #updates = 0;

  /** @param fillFactor percent of a page that inserts may use. */
  constructor(wal: WalMeter, fillFactor: number) {
    this.#wal = wal;
    this.#reserve = Math.floor((pageBytes * (100 - fillFactor)) / 100);
  }

  get bytes(): number {
    return this.#pages.length * pageBytes;
  }

  get rows(): number {
    return this.#rows;
  }

  /** Share of updates that stayed on their page and left the indexes alone. */
  get hotShare(): number {
    return this.#updates === 0 ? 0 : this.#hotUpdates / this.#updates;
  }

  insert(bytes: number): Version {
    const version = this.#place(this.#roomFor(maxAlign(bytes), this.#reserve), bytes, undefined);
    this.#rows++;
    const page = this.#pages[this.#page[version]!]!;
    const isNew = page.lineCount === 1;
    this.#wal.record("heap", 3, [{ page, bytes: 5 + bytes - tupleHeaderBytes, isNew }]);
    return version;
  }

  /**
   * Replaces a version by one of `bytes`.
   * @param mayBeHot false when a column that an index uses has changed.
   * @param changedBytes what differs from the old version; only this is logged when both are on one page.
   */
  update(old: Version, bytes: number, mayBeHot: boolean, changedBytes = bytes): UpdateResult {
    this.look(old);
    const oldPageNumber = this.#page[old]!;
    const oldPage = this.#pages[oldPageNumber]!;
    const staysHere = maxAlign(bytes) <= oldPage.free();
    const isHot = staysHere && mayBeHot;
    const pageNumber = staysHere ? oldPageNumber : this.#roomFor(maxAlign(bytes), this.#reserve);
    if (!staysHere) {
      // The old row is locked while its page is left to look for room.
      this.#wal.record("heap", 8, [{ page: oldPage, bytes: 0 }]);
      oldPage.isFull = true;
    }
    this.#end(old, !isHot);
    const version = this.#place(pageNumber, bytes, isHot ? this.#root[old]! : undefined);
    const page = this.#pages[pageNumber]!;
    const isNew = page.lineCount === 1;
    const payload =
      5 + (staysHere ? Math.min(bytes, changedBytes) : bytes) - (staysHere ? 0 : tupleHeaderBytes);
    const blocks = [{ page, bytes: payload, isNew }];
    if (!staysHere) blocks.push({ page: oldPage, bytes: 0, isNew: false });
    this.#wal.record("heap", 14, blocks);
    this.#updates++;
    if (isHot) this.#hotUpdates++;
    return { version, isHot };
  }

  delete(version: Version): void {
    this.look(version);
    this.#end(version, true);
    this.#rows--;
    this.#wal.record("heap", 8, [{ page: this.#pages[this.#page[version]!]!, bytes: 0 }]);
  }

  /** `SELECT … FOR UPDATE` of one row. */
  lock(version: Version): void {
    this.look(version);
    this.#wal.record("heap", 8, [{ page: this.#pages[this.#page[version]!]!, bytes: 0 }]);
  }

  /** Reads a row's page, which may prune it. */
  look(version: Version): void {
    const page = this.#pages[this.#page[version]!]!;
    if (page.ended.length === 0) return;
    if (page.isFull || page.free() < Math.max(this.#reserve, pageBytes / 10)) this.#prune(page, "heap");
  }

  commit(): void {
    this.#transaction++;
  }

  /** True when no index entry for this root leads to a row that anyone can see. */
  isDead(root: Version): boolean {
    const ended = this.#chainEndedIn[root]!;
    return ended !== 0 && ended < this.#transaction;
  }

  /** The version that indexes point at. */
  rootOf(version: Version): Version {
    return this.#root[version]!;
  }

  /** The page a version is on. */
  pageOf(version: Version): number {
    return this.#page[version]!;
  }

  /** True for the version with the first line pointer of its page. */
  isFirstOnPage(version: Version): boolean {
    return this.#line[version] === 0;
  }

  /** What a vacuum does to the heap. Returns true when it also has to clean the indexes. */
  vacuum(): boolean {
    let pagesWithDead = 0;
    for (const page of this.#pages) {
      if (page.ended.length > 0) this.#prune(page, "vacuum");
      if (page.deadLines > 0) pagesWithDead++;
    }
    const cleansIndexes = pagesWithDead >= this.#pages.length * 0.02 && pagesWithDead > 0;
    this.#pages.forEach((page, number) => {
      if (cleansIndexes && page.deadLines > 0) {
        this.#wal.record("vacuum", 2, [{ page, bytes: 2 * page.deadLines }]);
        page.freeDeadLines();
      }
      if (page.changed && page.ended.length === 0) {
        page.changed = false;
        this.#wal.plain("vacuum", visibleRecord);
      }
      this.#map.set(number, page.free());
    });
    this.#truncate();
    this.#map.rewind();
    // Every session forgets which page it was filling.
    this.#target = -1;
    return cleansIndexes;
  }

  /** Gives empty pages at the end back, if there are enough of them. */
  #truncate(): void {
    let keep = this.#pages.length;
    while (keep > 0 && this.#pages[keep - 1]!.isEmpty) keep--;
    const empty = this.#pages.length - keep;
    if (empty === 0 || (empty < 1_000 && empty < this.#pages.length / 16)) return;
    this.#pages.length = keep;
    this.#map.truncate(keep);
  }

  #roomFor(need: number, reserve: number): number {
    let candidate = this.#target >= 0 ? this.#target : this.#map.find(need + reserve);
    if (candidate < 0 && this.#pages.length > 0) candidate = this.#pages.length - 1;
    while (candidate >= 0 && candidate < this.#pages.length) {
      const free = this.#pages[candidate]!.free();
      if (need + reserve <= free || this.#pages[candidate]!.isEmpty) {
        this.#target = candidate;
        return candidate;
      }
      this.#map.set(candidate, free);
      candidate = this.#map.find(need + reserve);
    }
    this.#pages.push(new HeapPage());
    this.#target = this.#pages.length - 1;
    return this.#target;
  }

  #place(pageNumber: number, bytes: number, root: Version | undefined): Version {
    const page = this.#pages[pageNumber]!;
    const line = page.takeLine();
    page.used += maxAlign(bytes);
    page.changed = true;
    const version = this.#page.length;
    this.#page.push(pageNumber);
    this.#line.push(line);
    this.#bytes.push(maxAlign(bytes));
    this.#endedIn.push(0);
    this.#root.push(root ?? version);
    this.#chainEndedIn.push(0);
    return version;
  }

  #end(version: Version, endsChain: boolean): void {
    this.#endedIn[version] = this.#transaction;
    if (endsChain) this.#chainEndedIn[this.#root[version]!] = this.#transaction;
    const page = this.#pages[this.#page[version]!]!;
    page.ended.push(version);
    page.changed = true;
  }

  #prune(page: HeapPage, kind: "heap" | "vacuum"): void {
    const stay: Version[] = [];
    let removed = 0;
    for (const version of page.ended) {
      if (this.#endedIn[version]! >= this.#transaction) {
        stay.push(version);
        continue;
      }
      removed++;
      page.used -= this.#bytes[version]!;
      const root = this.#root[version]!;
      // A root keeps its line pointer: a redirect while the chain lives, a dead one afterwards.
      if (root !== version) page.freeLine(this.#line[version]!);
      const endsChain = this.isDead(root) && this.#chainEndedIn[root] === this.#endedIn[version];
      if (endsChain) page.killLine(this.#line[root]!);
    }
    if (removed === 0) return;
    page.ended = stay;
    page.isFull = false;
    this.#wal.record(kind, 8, [{ page, bytes: 4 * removed }]);
  }
}
