/** Names of keys, from what ink makes of the terminal's codes. */
import type { Key } from "ink";

/** One key press has one name; a text that was pasted is its characters, one after the other. */
export function keyNames(input: string, key: Key): string[] {
  if (key.upArrow) return ["up"];
  if (key.downArrow) return ["down"];
  if (key.leftArrow) return ["left"];
  if (key.rightArrow) return ["right"];
  if (key.pageUp) return ["pageup"];
  if (key.pageDown) return ["pagedown"];
  if (key.home) return ["home"];
  if (key.end) return ["end"];
  if (key.return) return ["enter"];
  if (key.escape) return ["esc"];
  if (key.tab) return [key.shift ? "shift-tab" : "tab"];
  // Terminals send either code for the one key above enter.
  if (key.backspace || key.delete) return ["backspace"];
  if (key.ctrl) return input === "" ? [] : [`ctrl-${input}`];
  if (key.meta) return [];
  return [...input].flatMap((char) =>
    char === "\r" || char === "\n" ? ["enter"] : char < " " ? [] : [char],
  );
}
