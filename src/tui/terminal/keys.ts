/** Names of keys, from what ink makes of the terminal's codes. */
import type { Key } from "ink";

export type Typed =
  | { readonly type: "key"; readonly key: string }
  | { readonly type: "paste"; readonly text: string };

/** How a terminal marks the two ends of a paste, as ink passes it on: without the leading ESC. */
const [pasteBegins, pasteEnds] = ["[200~", "[201~"];

/** Tells what is typed from what is pasted: a paste is one text, however many pieces it comes in. */
export class KeyReader {
  #pasted: string | undefined;

  read(input: string, key: Key): Typed[] {
    if (input === pasteBegins) {
      this.#pasted = "";
      return [];
    }
    if (this.#pasted === undefined)
      return keyNames(input, key).map((name): Typed => ({ type: "key", key: name }));
    // Should the end never come, a person must not be locked out.
    if (key.ctrl && input === "c") {
      this.#pasted = undefined;
      return [{ type: "key", key: "ctrl-c" }];
    }
    if (input !== pasteEnds) {
      this.#pasted += key.return || key.tab ? " " : input;
      return [];
    }
    const text = this.#pasted;
    this.#pasted = undefined;
    return [{ type: "paste", text }];
  }
}

/** One key press has one name; keys that come in one piece are their characters, one after the other. */
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
  if (key.meta || unknownCode.test(input)) return [];
  return [...input].flatMap(ofChar);
}

/** What is left of a code that ink does not know, such as shift and F3: its letters are nobody's keys. */
const unknownCode = /^\[[0-9;<=>?]+[ -/]*[@-~]$/;

/** Keys that were held down, or typed ahead, come in one piece with what is around them. */
function ofChar(char: string): string[] {
  if (char === "\r" || char === "\n") return ["enter"];
  if (char === "\x7f" || char === "\b") return ["backspace"];
  if (char === "\t") return ["tab"];
  if (char === "\x1b") return ["esc"];
  if (char >= "\x01" && char <= "\x1a") return [`ctrl-${String.fromCharCode(char.charCodeAt(0) + 96)}`];
  return char < " " || (char > "~" && char < "\xa0") ? [] : [char];
}
