/** Words for a POSIX shell. */
import { EscapementError } from "../../base/errors.ts";

/** One word, in single quotes. @throws E_BAD_DATA for control characters, which no path or value of ours has */
export function shellWord(word: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (/[\x00-\x1f\x7f]/.test(word))
    throw new EscapementError("E_BAD_DATA", {
      what: `${JSON.stringify(word)} has a control character in it`,
      hint: "paths, names and values of resources are one line of plain text",
    });
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

/** Several words, separated by spaces. */
export function shellWords(words: readonly string[]): string {
  return words.map(shellWord).join(" ");
}
