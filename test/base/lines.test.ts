import { expect, test } from "vitest";
import { LineSplitter } from "../../src/base/lines.ts";

test.each([
  ["one piece", ["a\nb\nc"], ["a", "b", "c"]],
  ["cut anywhere", ["a", "a\n", "", "b", "\n\nc\r", "\n"], ["aa", "b", "", "c"]],
  ["nothing", [], []],
  ["only an end", ["\n"], [""]],
])("%s", (_name, pieces, expected) => {
  const lines = new LineSplitter();
  expect([...pieces.flatMap((piece) => lines.push(piece)), ...lines.end()]).toEqual(expected);
});

test("a long line is cut, whether its end has come or not", () => {
  const lines = new LineSplitter(3);
  expect(lines.push("abcdefg")).toEqual(["abc", "def"]);
  expect(lines.push("hijk\nxyzw\n")).toEqual(["ghi", "jk", "xyz", "w"]);
  expect(lines.push("ab")).toEqual([]);
  expect(lines.end()).toEqual(["ab"]);
});
