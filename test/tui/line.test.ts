/** Text on a terminal: widths, cutting, filling, and no code of somebody else's. */
import { expect, test } from "vitest";
import {
  cut,
  cutStart,
  ends,
  fitLine,
  line,
  lineWidth,
  pad,
  plainText,
  span,
  textWidth,
  wrap,
} from "../../src/tui/text/line.ts";
import { toAnsi } from "../../src/tui/text/palette.ts";
import { panel } from "../../src/tui/text/panel.ts";
import { layOut, rowLine, type TableColumn } from "../../src/tui/text/table.ts";
import { coarse, shortDuration, whenUtc } from "../../src/tui/text/time-text.ts";

const widths: readonly [string, number][] = [
  ["abc", 3],
  ["结算", 4],
  ["é", 1],
  ["e\u0301", 1],
  ["", 0],
  ["▁▂█", 3],
  ["🙂", 2],
  ["✅ ⏳ ⭐", 8],
  ["✓ ✗ ⏎ ● ▸", 9],
  ["￥", 2],
];
test.each(widths)("%s takes %i columns", (text, width) => {
  expect(textWidth(text)).toBe(width);
});

const cuts: readonly [text: string, width: number, shown: string][] = [
  ["settlement", 10, "settlement"],
  ["settlement", 6, "settl…"],
  ["结算任务", 5, "结算…"],
  ["结算任务", 4, "结…"],
  ["a\x1b[31mred\nline", 20, "a [31mred line"],
  ["abc", 0, ""],
  ["✅✅✅", 5, "✅✅…"],
  ["exe\u202efdp\u2066x", 20, "exe fdp x"],
  ["a\u2028b", 20, "a b"],
];
test.each(cuts)("%j in %i columns is %j", (text, width, shown) => {
  expect(cut(text, width)).toBe(shown);
  expect(textWidth(pad(text, width))).toBe(width);
});

test("a line fits exactly, whatever is in it", () => {
  for (const width of [0, 1, 5, 20, 40])
    expect(lineWidth(fitLine(line("left ", span("结算", "bad"), "right"), width))).toBe(width);
  expect(plainText([ends(line("a long left part"), line("right"), 12)])).toBe("a long…right");
});

test("a panel has exactly its size, and every line of it, too", () => {
  for (const [width, height] of [
    [20, 5],
    [60, 3],
    [9, 4],
  ] as const) {
    const lines = panel({ title: "A title that is long", note: line("note"), width, height }, [
      line("x".repeat(100)),
      line("y"),
    ]);
    expect(lines).toHaveLength(height);
    for (const one of lines) expect(lineWidth(one)).toBe(width);
  }
});

test("columns give way by rank, and what stays fills the width", () => {
  const columns: TableColumn<number>[] = [
    { title: "name", width: 10, grows: 1, cell: () => "name" },
    { title: "first to go", width: 10, givesWay: 2, cell: () => "b" },
    { title: "second to go", width: 10, givesWay: 1, cell: () => "c" },
  ];
  expect(layOut(columns, 40).map(({ column }) => column.title)).toEqual([
    "name",
    "first to go",
    "second to go",
  ]);
  expect(layOut(columns, 30).map(({ column }) => column.title)).toEqual(["name", "second to go"]);
  expect(layOut(columns, 15).map(({ column }) => column.title)).toEqual(["name"]);
  for (const width of [15, 30, 40, 90])
    expect(lineWidth(rowLine(layOut(columns, width), 1, true))).toBe(width);
});

test("without colours there are no colour codes, and the chosen row is told by a sign and by reverse video", () => {
  const chosen = rowLine(
    layOut<number>([{ title: "a", width: 4, cell: () => span("x", "bad") }], 10),
    1,
    true,
  );
  const text = toAnsi(chosen, { colour: false, ascii: false });
  expect(text).toContain("▸");
  const codes = text
    .split("\x1b")
    .slice(1)
    .map((part) => part.slice(0, part.indexOf("m") + 1));
  expect(codes).toEqual(["[7m", "[0m", "[7m", "[0m", "[7m", "[0m"].slice(0, codes.length));
});

test("a terminal without UTF-8 gets plain signs", () => {
  expect(toAnsi(line("✓ ╭─ █ ü"), { colour: false, ascii: true })).toBe("v +- # ?");
  // As many columns as the sign takes: the edge of a box stays where it is.
  expect(toAnsi(line("结✅e\u0301"), { colour: false, ascii: true })).toBe("????e");
});

test("text is broken between words", () => {
  expect(wrap("one two three", 8)).toEqual(["one two", "three"]);
  expect(wrap("abcdefghij", 4)).toEqual(["abcd", "efgh", "ij"]);
  expect(wrap("结算任务失败", 5)).toEqual(["结算", "任务", "失败"]);
  expect(wrap("结算", 1)).toEqual(["结", "算"]);
});

const times: readonly [string, string][] = [
  [shortDuration(3), "3ms"],
  [shortDuration(1_234), "1.2s"],
  [shortDuration(59_600), "1m00"],
  [shortDuration(247_000), "4m07"],
  [shortDuration(3 * 3_600_000 + 20 * 60_000), "3h20"],
  [coarse(99_000), "99s"],
  [coarse(100_000), "1m"],
  [whenUtc(new Date("2026-11-29T22:00:00Z"), new Date("2026-11-30T02:00:00Z")), "11-29 22:00"],
  [whenUtc(new Date("2026-11-30T01:07:00Z"), new Date("2026-11-30T02:00:00Z")), "01:07"],
];
test.each(times)("%s", (text, expected) => {
  expect(text).toBe(expected);
});

test.each([
  ["a filter", 10, "a filter"],
  ["a long filter", 8, "… filter"],
  ["结算任务", 5, "…任务"],
  ["a\x1b[2Jb", 10, "a [2Jb"],
])("the end of %j in %i columns", (text, width, shown) => {
  expect(cutStart(text, width)).toBe(shown);
});

test("marks that are drawn onto the letter before them take no column", () => {
  expect(["e\u0301", "นี้", "नी", "ש\u05b8", "a\u200db\u2060"].map(textWidth)).toEqual([1, 1, 2, 1, 2]);
});
