/**
 * Text with meaning: a screen is a list of lines, a line is a list of spans, a
 * span has a tone. What a tone looks like is decided in one place (palette.ts),
 * so that screens are pure data and tests read them as plain text.
 */
import { cleaned } from "../../base/cleaned.ts";

/** `key`: of the keyboard. `title`: of a panel. `mark`: what the eye should find first. */
export type Tone =
  | "plain"
  | "muted"
  | "strong"
  | "title"
  | "key"
  | "mark"
  | "good"
  | "warn"
  | "bad"
  | "busy"
  | "trend"
  // The row that the cursor is on.
  | "selected";

export interface Span {
  readonly text: string;
  readonly tone: Tone;
}

export interface Line {
  readonly spans: readonly Span[];
}

export type Piece = Span | string;

export function span(text: string, tone: Tone = "plain"): Span {
  return { text, tone };
}

/** A line of pieces; a bare string is plain. */
export function line(...pieces: readonly Piece[]): Line {
  return { spans: pieces.map((piece) => (typeof piece === "string" ? span(piece) : piece)) };
}

export const emptyLine: Line = { spans: [] };

/** Signs that stand in colour by themselves: two columns, wherever they are in Unicode. */
const wideSign = /\p{Emoji_Presentation}/u;

/** Spares the lines of the frame, which are in the same block, the costly question. */
function mayBeWideSign(code: number): boolean {
  return (code >= 0x231a && code < 0x2500) || (code >= 0x25f0 && code <= 0x2b55) || code >= 0x1f000;
}

/** Marks that are drawn onto the character before them, and signs that are not drawn at all. */
const noWidth = /[\p{Mn}\p{Me}\p{Cf}]/u;

/** Where such marks are: not among the signs of the frame. */
function mayHaveNoWidth(code: number): boolean {
  return (
    code < 0x2070 || (code >= 0x20d0 && code < 0x2100) || (code >= 0x2ce0 && code < 0x3100) || code >= 0xa600
  );
}

/** Columns that one character takes. */
function charWidth(code: number): number {
  if (code < 0x300) return code < 32 || (code >= 0x7f && code < 0xa0) ? 0 : 1;
  if (mayHaveNoWidth(code) && noWidth.test(String.fromCodePoint(code))) return 0;
  const wide =
    (code >= 0x1100 && code <= 0x115f) ||
    (mayBeWideSign(code) && wideSign.test(String.fromCodePoint(code))) ||
    (code >= 0x2e80 && code <= 0xa4cf) ||
    (code >= 0xa960 && code <= 0xa97c) ||
    (code >= 0xac00 && code <= 0xd7a3) ||
    (code >= 0xf900 && code <= 0xfaff) ||
    (code >= 0xfe30 && code <= 0xfe6f) ||
    (code >= 0xff00 && code <= 0xff60) ||
    (code >= 0xffe0 && code <= 0xffe6) ||
    (code >= 0x1f300 && code <= 0x1faff) ||
    code >= 0x20000;
  return wide ? 2 : 1;
}

/** Columns that a text takes on a terminal. */
export function textWidth(text: string): number {
  let width = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.codePointAt(i)!;
    if (code > 0xffff) i++;
    width += charWidth(code);
  }
  return width;
}

export function lineWidth({ spans }: Line): number {
  return spans.reduce((sum, one) => sum + textWidth(one.text), 0);
}

export { cleaned };

/** Cut to at most `width` columns, and cleaned; what was cut ends in an ellipsis. */
export function cut(text: string, width: number): string {
  const clean = cleaned(text);
  if (width <= 0) return "";
  if (textWidth(clean) <= width) return clean;
  let taken = "";
  let room = width - 1;
  for (const char of clean) {
    const size = charWidth(char.codePointAt(0)!);
    if (size > room) break;
    taken += char;
    room -= size;
  }
  return `${taken}…`;
}

/** The end of what is typed, in at most `width` columns, and cleaned: that is where the next letter goes. */
export function cutStart(text: string, width: number): string {
  const clean = cleaned(text);
  if (textWidth(clean) <= width) return clean;
  let taken = "";
  for (const char of [...clean].reverse()) {
    if (textWidth(char + taken) > width - 1) break;
    taken = char + taken;
  }
  return `…${taken}`;
}

export type Align = "left" | "right";

/** Exactly `width` columns: cut, or filled with blanks. */
export function pad(text: string, width: number, align: Align = "left"): string {
  const short = cut(text, width);
  const blanks = " ".repeat(Math.max(0, width - textWidth(short)));
  return align === "left" ? short + blanks : blanks + short;
}

/** The line in exactly `width` columns. */
export function fitLine(one: Line, width: number): Line {
  const spans: Span[] = [];
  let room = width;
  for (const { text, tone } of one.spans) {
    if (room <= 0) break;
    const short = cut(text, room);
    spans.push({ text: short, tone });
    room -= textWidth(short);
  }
  if (room > 0) spans.push(span(" ".repeat(room)));
  return { spans };
}

/** `left`, and `right` flush at the other end; the left one gives way. */
export function ends(left: Line, right: Line, width: number): Line {
  const rightWidth = Math.min(lineWidth(right), width);
  const leftPart = fitLine(left, Math.max(0, width - rightWidth));
  return { spans: [...leftPart.spans, ...fitLine(right, rightWidth).spans] };
}

/** What a person sees, without tones: for tests and for copying. */
export function plainText(lines: readonly Line[]): string {
  return lines
    .map(({ spans }) =>
      spans
        .map(({ text }) => text)
        .join("")
        .trimEnd(),
    )
    .join("\n");
}

/** Words broken into lines of at most `width` columns. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let last = "";
  for (const word of text.split(/\s+/).filter(Boolean)) {
    if (last !== "" && textWidth(last) + 1 + textWidth(word) > width) {
      lines.push(last);
      last = "";
    }
    last = last === "" ? word : `${last} ${word}`;
    while (textWidth(last) > width) {
      let part = "";
      for (const char of last) {
        if (part !== "" && textWidth(part + char) > width) break;
        part += char;
      }
      lines.push(part);
      last = last.slice(part.length);
    }
  }
  if (last !== "") lines.push(last);
  return lines;
}
