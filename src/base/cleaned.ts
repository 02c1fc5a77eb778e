/** Text of others, made safe to show. */

/** Control characters, line separators, and marks that turn the direction of what follows: of the frame, too. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: that is what is taken out
const harmful = /[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]+/g;

/** Control characters become blanks: neither the store's text nor a paste is trusted with a terminal. */
export function cleaned(text: string): string {
  return text.replace(harmful, " ");
}
