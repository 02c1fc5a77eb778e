/** The page-level model against PostgreSQL's documented rules, on cases small enough to work out by hand. */
import { describe, expect, test } from "vitest";
import { BtreeSimulation } from "../../src/capacity/storage/btree-simulation.ts";
import { FreeSpaceMap } from "../../src/capacity/storage/free-space-map.ts";
import { HeapSimulation } from "../../src/capacity/storage/heap-simulation.ts";
import { pageFit } from "../../src/capacity/storage/page-fit.ts";
import { recordShapes } from "../../src/capacity/storage/record-shape.ts";
import { isOutOfLine, outOfLine } from "../../src/capacity/storage/toast.ts";
import { heapTupleBytes, indexTupleBytes } from "../../src/capacity/storage/tuple.ts";
import { WalMeter } from "../../src/capacity/storage/wal-meter.ts";

const page = 8_192;

describe("a page's rows come in steps", () => {
  test.each([
    [972, 8],
    [1_016, 8],
    [1_017, 7],
    [1_160, 7],
    [36, 185],
  ])("%i bytes: %i rows", (bytes, rows) => {
    expect(pageFit(bytes).rowsPerPage).toBe(rows);
    const heap = new HeapSimulation(new WalMeter(), 100);
    for (let i = 0; i < 10 * rows; i++) heap.insert(bytes);
    expect(heap.bytes).toBe(10 * page);
  });

  test("trimming the named bytes lets one more row in, trimming one less does not", () => {
    const { rowsPerPage, trim } = pageFit(1_030);
    expect(pageFit(1_030 - trim.bytes).rowsPerPage).toBe(rowsPerPage + 1);
    expect(pageFit(1_030 - trim.bytes + 1).rowsPerPage).toBe(rowsPerPage);
    expect(trim.saves).toBeCloseTo(1 / 8, 6);
  });

  test("a fill factor of 50 leaves half of each page to updates", () => {
    const heap = new HeapSimulation(new WalMeter(), 50);
    for (let i = 0; i < 100; i++) heap.insert(100);
    expect(heap.bytes).toBe(3 * page);
  });
});

describe("updates", () => {
  const filled = (fillFactor: number) => {
    const heap = new HeapSimulation(new WalMeter(), fillFactor);
    const rows = Array.from({ length: 700 }, () => heap.insert(1_000));
    heap.commit();
    return { heap, rows };
  };

  test("on full pages go elsewhere and touch the indexes", () => {
    const { heap, rows } = filled(100);
    expect(heap.update(rows[0]!, 1_000, true).isHot).toBe(false);
  });

  test("with room on the page stay there and do not", () => {
    const { heap, rows } = filled(80);
    expect(heap.update(rows[0]!, 1_000, true).isHot).toBe(true);
    expect(heap.update(rows[1]!, 1_000, false).isHot).toBe(false);
  });

  test("one transaction that updates everything doubles the table; vacuum gives the room back to the next", () => {
    const { heap, rows } = filled(100);
    const before = heap.bytes;
    const next = rows.map((row) => heap.update(row, 1_000, true).version);
    heap.commit();
    expect(heap.bytes).toBeGreaterThan(1.9 * before);
    heap.vacuum();
    const after = heap.bytes;
    for (const row of next) heap.update(row, 1_000, true);
    expect(heap.bytes).toBe(after);
  });

  test("one transaction for each row needs no vacuum: dead versions are pruned as pages are visited", () => {
    const { heap, rows } = filled(80);
    const before = heap.bytes;
    for (const row of rows) {
      const { version } = heap.update(row, 1_000, true);
      heap.commit();
      heap.update(version, 1_000, true);
      heap.commit();
    }
    expect(heap.bytes).toBeLessThan(1.05 * before);
    expect(heap.hotShare).toBeGreaterThan(0.95);
  });

  test("a deleted row's room is used again after a vacuum, not before", () => {
    const { heap, rows } = filled(100);
    const before = heap.bytes;
    for (const row of rows) heap.delete(row);
    heap.commit();
    expect(heap.rows).toBe(0);
    heap.insert(1_000);
    expect(heap.bytes).toBeGreaterThanOrEqual(before);
    heap.vacuum();
    for (let i = 0; i < 600; i++) heap.insert(1_000);
    expect(heap.bytes).toBeLessThanOrEqual(before + 2 * page);
  });
});

describe("index", () => {
  const tree = (tupleBytes: number, keyColumns: number, group: number) => {
    const wal = new WalMeter();
    const heap = new HeapSimulation(wal, 100);
    const index = new BtreeSimulation(wal, heap, {
      tupleBytes,
      boundBytes: () => tupleBytes,
      keyColumns,
      isUnique: true,
      fillFactor: 90,
      columnsToTell: (a, b) =>
        Math.floor(a / group) !== Math.floor(b / group) ? 1 : a === b ? keyColumns + 1 : 2,
    });
    return { heap, index };
  };

  test.each([
    [16, 22.3],
    [24, 31.3],
  ])("ascending keys of a %i-byte tuple: %f bytes a row", (tupleBytes, perRow) => {
    const { heap, index } = tree(tupleBytes, 1, 1e9);
    for (let key = 0; key < 50_000; key++) index.insert(key, heap.insert(40), false);
    expect((index.pages * page) / 50_000 / perRow).toBeGreaterThan(0.98);
    expect((index.pages * page) / 50_000 / perRow).toBeLessThan(1.03);
  });

  test("random keys fill pages to about two thirds", () => {
    const { heap, index } = tree(16, 1, 1e9);
    let key = 1;
    for (let i = 0; i < 50_000; i++) {
      key = (key * 48_271) % 2_147_483_647;
      index.insert(key, heap.insert(40), false);
    }
    const fill = (50_000 * 20) / (index.pages * page);
    expect(fill).toBeGreaterThan(0.62);
    expect(fill).toBeLessThan(0.8);
  });

  test("keys ascending inside many groups: narrow tuples are packed, wide ones left half empty", () => {
    const load = (tupleBytes: number) => {
      const { heap, index } = tree(tupleBytes, 2, 1_000_000);
      for (let n = 0; n < 1_000; n++)
        for (let group = 0; group < 50; group++) index.insert(group * 1_000_000 + n, heap.insert(40), false);
      return (50_000 * (tupleBytes + 4)) / (index.pages * page);
    };
    expect(load(24)).toBeGreaterThan(0.7);
    expect(load(32)).toBeLessThan(0.55);
  });

  test("entries of dead rows are removed by vacuum, and emptied pages are used again", () => {
    const { heap, index } = tree(16, 1, 1e9);
    const rows = Array.from({ length: 20_000 }, (_, key) => {
      const row = heap.insert(40);
      index.insert(key, row, false);
      return row;
    });
    heap.commit();
    for (const row of rows) heap.delete(row);
    heap.commit();
    const before = index.pages;
    for (const from of [100_000, 200_000]) {
      if (heap.vacuum()) index.vacuum();
      else index.cleanUp();
      for (let key = from; key < from + 8_000; key++) index.insert(key, heap.insert(40), false);
    }
    // The first 8,000 need pages of their own; the second find the emptied ones.
    expect(index.pages).toBeLessThanOrEqual(before + 25);
  });
});

describe("rows by their columns", () => {
  test("a finished shard without a message has 112 bytes of columns after its header, of which one is null", () => {
    const shard = recordShapes.shard;
    const all = {
      job_id: true,
      fire_time: true,
      shard_no: true,
      status: 7,
      attempt: true,
      owner: true,
      fence_token: true,
      start_time: true,
      end_time: true,
      rows: true,
    } as const;
    // 32 header with null bitmap; 4 + pad 4 + 8 + 4 + 8 (status with its length byte) + 4 + 16 + 8 + 8 + 8 + 8.
    expect(heapTupleBytes(shard, all)).toBe(32 + 4 + 4 + 8 + 4 + 8 + 4 + 16 + 8 + 8 + 8 + 8);
    // A short text has one byte of length, a long one four, aligned.
    expect(heapTupleBytes(shard, { ...all, error: 126 })).toBe(24 + 80 + 1 + 126);
    expect(heapTupleBytes(shard, { ...all, error: 127 })).toBe(24 + 80 + 4 + 127);
  });

  test("the key of a shard takes 32 bytes in the index, that of an execution 24", () => {
    const { shard, execution } = recordShapes;
    expect(indexTupleBytes(shard, shard.indexes[0]!, { job_id: true, fire_time: true, shard_no: true })).toBe(
      32,
    );
    expect(indexTupleBytes(execution, execution.indexes[0]!, { job_id: true, fire_time: true })).toBe(24);
  });

  test("what is too wide for a page is stored beside it, four pieces a page", () => {
    expect([isOutOfLine(2_032), isOutOfLine(2_033)]).toEqual([false, true]);
    const { pieces, bytesPerRow } = outOfLine(10_000);
    expect(pieces).toBe(6);
    expect(bytesPerRow).toBeGreaterThan(10_000);
    expect(bytesPerRow).toBeLessThan(10_600);
  });
});

test("the free space map finds a page with room, goes on from the last one, and forgets what was cut off", () => {
  const map = new FreeSpaceMap();
  for (let i = 0; i < 100; i++) map.set(i, i % 10 === 0 ? 4_000 : 30);
  expect([map.find(3_900), map.find(3_900), map.find(3_900)]).toEqual([0, 10, 20]);
  expect(map.find(5_000)).toBe(-1);
  map.rewind();
  expect(map.find(3_900)).toBe(0);
  map.truncate(50);
  for (let i = 0; i < 3; i++) map.find(3_900);
  expect(map.find(3_900)).toBeLessThan(50);
});

test("after a checkpoint the first change of a page logs it whole, the second does not", () => {
  const wal = new WalMeter();
  const heap = new HeapSimulation(wal, 100);
  heap.insert(100);
  const cost = () => {
    const before = wal.total;
    heap.insert(100);
    return wal.total - before;
  };
  const plain = cost();
  wal.checkpoint();
  expect(cost()).toBeGreaterThan(plain + 200);
  expect(cost()).toBeCloseTo(plain, 6);
});
