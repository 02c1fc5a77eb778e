/** Text from files, made safe for a terminal: it cannot move the cursor, change colours or break a table. */

/** A name longer than this is cut. */
const longest = 60;

export function plainText(text: string): string {
  const plain = text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, "·");
  return plain.length > longest ? `${plain.slice(0, longest - 1)}…` : plain;
}
