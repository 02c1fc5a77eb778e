/** From the codes of terminals to names of keys, in whatever pieces they come. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { KeyReader, keyNames } from "../../src/tui/terminal/keys.ts";

const pieces: readonly [what: string, text: string, names: readonly string[]][] = [
  ["letters", "jk", ["j", "k"]],
  ["a text with a new line", "ab\r\n", ["a", "b", "enter", "enter"]],
  ["backspace held down", "x\x7f\x7f\b", ["x", "backspace", "backspace", "backspace"]],
  ["Ctrl-C typed ahead", "q\x03", ["q", "ctrl-c"]],
  ["Ctrl-U and a tab among letters", "a\x15b\t", ["a", "ctrl-u", "b", "tab"]],
  ["escape among letters", "a\x1bb", ["a", "esc", "b"]],
  ["escape, and a letter at once", "\x1bU", ["esc", "U"]],
  ["escape, and enter at once", "\x1b\r", ["esc", "enter"]],
  ["escape, and a sign at once", "\x1b/x", ["esc", "/", "x"]],
  ["escape twice", "\x1b\x1b", ["esc", "esc"]],
  ["escape, and an arrow at once", "\x1b\x1b[A", ["esc", "up"]],
  ["arrows of both kinds", "\x1b[A\x1b[B\x1bOC\x1bOD", ["up", "down", "right", "left"]],
  ["arrows with shift and control", "\x1b[1;2A\x1b[1;5B\x1b[a", ["up", "down", "up"]],
  [
    "home and end of four kinds",
    "\x1b[H\x1bOF\x1b[1~\x1b[4~\x1b[7~\x1b[8~",
    ["home", "end", "home", "end", "home", "end"],
  ],
  ["pages", "\x1b[5~\x1b[6~\x1b[6;5~", ["pageup", "pagedown", "pagedown"]],
  [
    "delete, shift and tab, and enter of the number pad",
    "\x1b[3~\x1b[Z\x1bOM",
    ["delete", "shift-tab", "enter"],
  ],
  ["other control characters", "\x00\x1c\x9b", []],
  ["function keys", "\x1b[15~\x1b[1;2R\x1b[[A\x1b[24;2~", []],
  ["function keys one to four", "a\x1bOP\x1bOQ\x1bOR\x1bOSb", ["a", "b"]],
  [
    "what a terminal answers late, to whoever asked before us",
    "a\x1b]11;rgb:1e1e/1e1e/2e2e\x1b\\b\x1b]10;rgb:ffff/ffff/ffff\x07c\x1bP>|XTerm(390)\x1b\\d\x1bP1+r544e=78\x1b\\e",
    ["a", "b", "c", "d", "e"],
  ],
  ["escape, and a capital P at once", "\x1bPx", ["esc", "P", "x"]],
  ["a mouse's code", "\x1b[<0;10;10M", []],
  ["a window that gets the focus, and a terminal that says what it is", "\x1b[I\x1b[?62;22c", []],
  ["a bracket", "[", ["["]],
  ["letters after a bracket", "[ab", ["[", "a", "b"]],
  ["wide characters", "结✅", ["结", "✅"]],
];
test.each(pieces)("%s", (_, text, names) => {
  expect(keyNames(text)).toEqual(names);
});

test("whatever the pieces are that they come in, keys are the same", () => {
  const whole = pieces.map(([, text]) => text).join("");
  const names = keyNames(whole);
  fc.assert(
    fc.property(fc.array(fc.nat(whole.length), { maxLength: 40 }), (cuts) => {
      const at = [0, ...[...cuts].sort((a, b) => a - b), whole.length];
      const reader = new KeyReader();
      const typed = at.slice(1).flatMap((end, i) => reader.read(whole.slice(at[i], end)));
      expect([...typed, ...reader.flush()].map((one) => one.type === "key" && one.key)).toEqual(names);
    }),
  );
});

test("escape alone waits for what may follow, and is a key when nothing does", () => {
  const reader = new KeyReader();
  expect([reader.read("\x1b"), reader.waits]).toEqual([[], true]);
  expect([reader.flush(), reader.waits]).toEqual([[{ type: "key", key: "esc" }], false]);
  expect(reader.read("a")).toEqual([{ type: "key", key: "a" }]);
});
