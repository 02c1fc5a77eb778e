/** How commands talk: data on standard output, talk on standard error, colour only where wanted. */
import pc from "picocolors";
import { cleaned } from "../base/cleaned.ts";

const wantsColour =
  !process.argv.includes("--no-color") &&
  !process.env.NO_COLOR &&
  process.env.TERM !== "dumb" &&
  (Boolean(process.env.FORCE_COLOR) || process.stdout.isTTY === true);

/** Colours that become plain text when piped, under NO_COLOR and on a dumb terminal. */
export const paint = pc.createColors(wantsColour);

/** Prints one JSON document, with its schema version, on standard output. */
export function printJson(document: Record<string, unknown>): void {
  process.stdout.write(`${JSON.stringify({ schemaVersion: 1, ...document }, null, 2)}\n`);
}

/** Prints one JSON document, with its schema version, on one line of standard output. */
export function printJsonLine(document: Record<string, unknown>): void {
  process.stdout.write(`${JSON.stringify({ schemaVersion: 1, ...document })}\n`);
}

/** Prints a line, or several, for people on standard output; see {@link harmless}. */
export function print(line = ""): void {
  process.stdout.write(`${harmless(line)}\n`);
}

/** Ends of lines, tabs, and what {@link paint} writes: nothing that moves, hides or asks. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: colour codes start with ESC
const ours = /(\n|\t|\x1b\[(?:[0-4]|2[2-4]|3[1-79]|9[0-7])m)/;

/** Text for a terminal. Files and records of others may hold anything: what would steer it becomes blanks. */
export function harmless(text: string): string {
  return text
    .split(ours)
    .map((part, i) => (i % 2 === 1 && (wantsColour || part.length === 1) ? part : cleaned(part)))
    .join("");
}

/** Says something about the work on standard error; silent with `--quiet`. */
export function say(line: string): void {
  if (!process.argv.includes("--quiet")) process.stderr.write(`${harmless(line)}\n`);
}

/** What stands in a column: text, which is put on one line, or lines. */
export type Cell = string | readonly string[];

/**
 * Aligned columns without borders; widths ignore colour codes. The last column is not padded.
 * @param screenWidth where the last column is broken between words and goes on below itself; at a terminal its width
 */
export function table(
  header: readonly string[],
  cells: readonly (readonly Cell[])[],
  screenWidth = process.stdout.isTTY ? process.stdout.columns : Number.POSITIVE_INFINITY,
): string {
  const rows = cells.map((row) => row.map((cell) => [cell].flat().map(oneLine).join("\n")));
  const widths = header.map((name, i) => Math.max(width(name), ...rows.map((row) => width(row[i] ?? ""))));
  const before = widths.slice(0, -1).reduce((sum, one) => sum + one + 2, 0);
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, i) =>
        i === widths.length - 1
          ? broken(cell, before, screenWidth)
          : i === cells.length - 1
            ? cell
            : cell + " ".repeat(widths[i]! - width(cell)),
      )
      .join("  ");
  return [paint.dim(line(header)), ...rows.map(line)].join("\n");
}

/** {@link harmless}, on one line whatever is in it: one of somebody else's making would look like one of ours. */
export function oneLine(text: string): string {
  return harmless(text.replace(/[\n\t]+/g, " "));
}

/** A column narrower than this is left to the terminal: a word a line reads worse. */
const narrowest = 24;

function broken(text: string, indent: number, screenWidth: number): string {
  const room = screenWidth - indent;
  if (room < narrowest || width(text) <= room) return text;
  const lines: string[] = [];
  let last = "";
  for (const word of text.split(" ")) {
    if (last !== "" && width(last) + 1 + width(word) > room) {
      lines.push(last);
      last = word;
    } else last = last === "" ? word : `${last} ${word}`;
  }
  return [...lines, last].join(`\n${" ".repeat(indent)}`);
}

function width(text: string): number {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colour codes start with ESC
  return [...text.replace(/\x1b\[[0-9;]*m/g, "")].length;
}
