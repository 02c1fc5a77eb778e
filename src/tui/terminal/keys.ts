/**
 * Names of keys, from the codes that a terminal sends.
 *
 * Codes of any length come in pieces of any length: several keys at once when they
 * are typed fast, held down, or sent over a slow line, and half a code where a piece
 * ends. An escape that is followed by a letter at once is escape, then the letter:
 * no key of ours is held together with alt, and neither of the two may be lost.
 *
 *   keys ── ESC [ 200 ~ ──▶ paste ── ESC [ 201 ~ ──▶ keys
 */
export type Typed =
  | { readonly type: "key"; readonly key: string }
  | { readonly type: "paste"; readonly text: string };

/** How a terminal marks the two ends of a paste. */
const [pasteBegins, pasteEnds] = ["\x1b[200~", "\x1b[201~"];
/** Far more than any field takes. */
const mostPasted = 10_000;

/**
 * One code: CSI, SS3, what a terminal answers (OSC or DCS, as whole as it comes) to
 * whoever asked before us, or a character.
 */
const code =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: codes begin with ESC
  /\x1b\[\[?[0-9;:<=>?]*[ -/]*[@-~]|\x1bO[A-DFHMP-S]|\x1b\]\d+;[^\x00-\x1f]*(?:\x07|\x1b\\)|\x1bP[^\x00-\x1f]+\x1b\\|[\s\S]/gu;
/** What may be the beginning of a code, when nothing more comes for the moment. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: codes begin with ESC
const unfinished = /\x1b(?:\[\[?[0-9;:<=>?]*[ -/]*|O|[\]P][^\x00-\x1f]{0,99}\x1b?)?$/;

/** Tells keys from each other, and what is typed from what is pasted: a paste is one text, however many pieces it comes in. */
export class KeyReader {
  #pasted: string | undefined;
  /** The beginning of a code. */
  #rest = "";

  /** Whether the last piece may have ended within a code: escape alone is one, too. */
  get waits(): boolean {
    return this.#pasted === undefined && this.#rest !== "";
  }

  read(piece: string): Typed[] {
    // Should the end of a paste never come, a person must not be locked out.
    if (this.#pasted !== undefined && piece === "\x03") {
      this.#pasted = undefined;
      this.#rest = "";
      return [{ type: "key", key: "ctrl-c" }];
    }
    const typed: Typed[] = [];
    let text = this.#rest + piece;
    this.#rest = "";
    while (text !== "")
      text = this.#pasted === undefined ? this.#keys(text, typed) : this.#paste(text, typed);
    return typed;
  }

  /** Nothing more has come: what waits are keys. */
  flush(): Typed[] {
    const names = this.waits ? keyNames(this.#rest) : [];
    this.#rest = "";
    return names.map((key) => ({ type: "key", key }));
  }

  /** @returns what comes after the beginning of a paste */
  #keys(text: string, typed: Typed[]): string {
    const paste = text.indexOf(pasteBegins);
    const before = paste < 0 ? text : text.slice(0, paste);
    if (paste < 0) this.#rest = unfinished.exec(before)?.[0] ?? "";
    const whole = before.slice(0, before.length - this.#rest.length);
    typed.push(...keyNames(whole).map((key) => ({ type: "key", key }) as const));
    if (paste < 0) return "";
    this.#pasted = "";
    return text.slice(paste + pasteBegins.length);
  }

  /** @returns what comes after the end of the paste */
  #paste(text: string, typed: Typed[]): string {
    const end = text.indexOf(pasteEnds);
    if (end < 0) this.#rest = beginningOf(pasteEnds, text);
    const inside = end < 0 ? text.slice(0, text.length - this.#rest.length) : text.slice(0, end);
    const pasted = (this.#pasted + inside).slice(0, mostPasted);
    this.#pasted = pasted;
    if (end < 0) return "";
    this.#pasted = undefined;
    typed.push({ type: "paste", text: pasted });
    return text.slice(end + pasteEnds.length);
  }
}

/** The longest beginning of `mark` that `text` ends in. */
function beginningOf(mark: string, text: string): string {
  for (let size = Math.min(mark.length - 1, text.length); size > 0; size--)
    if (text.endsWith(mark.slice(0, size))) return mark.slice(0, size);
  return "";
}

const byFinal: Readonly<Record<string, string>> = {
  A: "up",
  B: "down",
  C: "right",
  D: "left",
  F: "end",
  H: "home",
  // As some terminals say it with shift.
  a: "up",
  b: "down",
  c: "right",
  d: "left",
  Z: "shift-tab",
};

const byNumber: Readonly<Record<string, string>> = {
  1: "home",
  3: "delete",
  4: "end",
  5: "pageup",
  6: "pagedown",
  7: "home",
  8: "end",
};

/** What keys are called that come in one piece, one after the other. A code that nobody knows is no key, and its letters are none. */
export function keyNames(text: string): string[] {
  return (text.match(code) ?? []).flatMap((one) =>
    one.startsWith("\x1b[")
      ? ofCsi(one)
      : one.startsWith("\x1bO")
        ? ofSs3(one)
        : one.length > 1 && one.startsWith("\x1b")
          ? []
          : ofChar(one),
  );
}

function ofCsi(one: string): string[] {
  // With shift, alt or control the same keys have a second number.
  const [, number = "", final = ""] = /^(\d*)(?:;\d+)?([A-Za-z~])$/.exec(one.slice(2)) ?? [];
  const name =
    final === "~" ? byNumber[number] : number === "" || number === "1" ? byFinal[final] : undefined;
  return name === undefined ? [] : [name];
}

function ofSs3(one: string): string[] {
  const final = one.slice(2);
  const name = final === "M" ? "enter" : byFinal[final];
  // One to four of the function keys are nobody's.
  return name === undefined ? [] : [name];
}

function ofChar(char: string): string[] {
  if (char === "\r" || char === "\n") return ["enter"];
  // Terminals send either code for the one key above enter.
  if (char === "\x7f" || char === "\b") return ["backspace"];
  if (char === "\t") return ["tab"];
  if (char === "\x1b") return ["esc"];
  if (char >= "\x01" && char <= "\x1a") return [`ctrl-${String.fromCharCode(char.charCodeAt(0) + 96)}`];
  return char < " " || (char > "~" && char < "\xa0") ? [] : [char];
}
