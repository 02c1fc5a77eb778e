/** Text for XML 1.0. */

/** What XML cannot hold at all, escaped or not: control characters, half a character, U+FFFE and U+FFFF. */
const illegal =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  /[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]|[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: colours of terminals start with ESC
const colours = /\u001b\[[0-9;]*[A-Za-z]/g;

/** Without what XML and HTML cannot hold; line ends are line feeds, as every reader makes them. */
export function printable(text: string): string {
  return text.replace(colours, "").replace(illegal, "\uFFFD").replace(/\r\n?/g, "\n");
}

/** For content of elements. */
export function xmlText(text: string): string {
  return printable(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** For attributes: line ends and tabs survive the reader as references only. */
export function xmlAttribute(text: string): string {
  return xmlText(text).replaceAll('"', "&quot;").replaceAll("\n", "&#10;").replaceAll("\t", "&#9;");
}
