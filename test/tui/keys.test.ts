/** From what ink makes of the terminal's codes to names of keys. */
import type { Key } from "ink";
import { expect, test } from "vitest";
import { keyNames } from "../../src/tui/terminal/keys.ts";

const none = {} as Key;

const chunks: readonly [what: string, input: string, names: readonly string[]][] = [
  ["letters", "jk", ["j", "k"]],
  ["a text with a new line", "ab\r\n", ["a", "b", "enter", "enter"]],
  ["backspace held down", "x\x7f\x7f\b", ["x", "backspace", "backspace", "backspace"]],
  ["Ctrl-C typed ahead", "q\x03", ["q", "ctrl-c"]],
  ["Ctrl-U and a tab among letters", "a\x15b\t", ["a", "ctrl-u", "b", "tab"]],
  ["escape among letters", "a\x1bb", ["a", "esc", "b"]],
  ["other control characters", "\x00\x1c\x9b", []],
  ["shift and F3, without its first character", "[1;2R", []],
  ["a mouse's code, without its first character", "[<0;10;10M", []],
  ["the brackets of a paste", "[200~", []],
  ["a bracket", "[", ["["]],
  ["letters after a bracket", "[ab", ["[", "a", "b"]],
  ["wide characters", "结✅", ["结", "✅"]],
];
test.each(chunks)("%s", (_, input, names) => {
  expect(keyNames(input, none)).toEqual(names);
});

test("letters with alt are no keys", () => {
  expect(keyNames("q", { meta: true } as Key)).toEqual([]);
});
