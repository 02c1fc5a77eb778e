/** The cursor stays on its row, and its row stays in sight. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { fitsFilter, move, settle } from "../../src/tui/state/list.ts";
import { emptyList, type ListState } from "../../src/tui/state/state.ts";

const keys = (count: number) => Array.from({ length: count }, (_, i) => `row-${i}`);
const at = (index: number, top = 0): ListState => ({ ...emptyList, key: `row-${index}`, index, top });

const cases: readonly [
  what: string,
  list: ListState,
  how: Parameters<typeof move>[3],
  index: number,
  top: number,
][] = [
  ["down", at(0), { by: 1 }, 1, 0],
  ["up at the top stays", at(0), { by: -1 }, 0, 0],
  ["down at the lower edge scrolls by one", at(9), { by: 1 }, 10, 1],
  ["up at the upper edge scrolls by one", at(5, 5), { by: -1 }, 4, 4],
  ["a page is one row less than what is in sight", at(0), { pages: 1 }, 9, 0],
  ["last", at(0), { to: "last" }, 99, 90],
  ["first", at(99, 90), { to: "first" }, 0, 0],
  ["down at the end stays", at(99, 90), { by: 1 }, 99, 90],
];

test.each(cases)("%s", (_, list, how, index, top) => {
  expect(move(list, keys(100), 10, how)).toMatchObject({ index, top, key: `row-${index}` });
});

test("a row that moves takes the cursor with it", () => {
  const before = move(emptyList, ["a", "b", "c"], 10, { by: 1 });
  expect(before.key).toBe("b");
  expect(settle(before, ["c", "a", "b"], 10)).toMatchObject({ key: "b", index: 2 });
});

test("a row that is gone leaves the cursor where it was, or at the end", () => {
  const before = move(emptyList, ["a", "b", "c"], 10, { to: "last" });
  expect(settle(before, ["a", "b"], 10)).toMatchObject({ key: "b", index: 1 });
  expect(settle(before, [], 10)).toMatchObject({ index: 0, top: 0 });
});

test("whatever happens, the cursor is on a row and the row in sight", () => {
  const moves = fc.oneof(
    fc.integer({ min: -3, max: 3 }).map((by) => ({ by })),
    fc.constantFrom({ pages: 1 }, { pages: -1 }, { to: "first" as const }, { to: "last" as const }),
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(moves, fc.nat(40), fc.integer({ min: 1, max: 12 }))), (steps) => {
      let list = emptyList;
      for (const [how, count, height] of steps) {
        list = move(settle(list, keys(count), height), keys(count), height, how);
        if (count === 0) continue;
        expect(list.index).toBeGreaterThanOrEqual(list.top);
        expect(list.index).toBeLessThan(Math.min(count, list.top + height));
        expect(list.key).toBe(`row-${list.index}`);
      }
    }),
  );
});

const filters: readonly [text: string, filter: string, fits: boolean][] = [
  ["settlement failed", "", true],
  ["settlement failed", "SETTLE", true],
  ["settlement failed", "failed settle", true],
  ["settlement failed", "settle ok", false],
  ["settlement failed", "!failed", false],
  ["settlement success", "settle !failed", true],
  ["settlement", "!", true],
];
test.each(filters)("%s against /%s", (text, filter, fits) => {
  expect(fitsFilter(text, filter)).toBe(fits);
});
