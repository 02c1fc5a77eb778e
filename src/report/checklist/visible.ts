/**
 * Text from files, hosts and people, as it may be shown: a message is one line,
 * and nothing in it moves the cursor, colours the screen, begins a line of its
 * own (which a pipeline would take for a command) or turns the reading direction.
 */

const turning = /[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu;

/** On one line. */
export function oneLine(text: string): string {
  return text
    .replace(turning, "")
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ")
    .trim();
}

/** Line breaks and tabs stay. */
export function visible(text: string): string {
  return text
    .replace(turning, "")
    .replace(/\r\n?/g, "\n")
    .replace(/[^\P{Cc}\n\t]/gu, "\uFFFD");
}

/** A whole document of markup: besides, no line of it is a command of the pipeline that prints it. */
export function inert(document: string): string {
  return visible(document).replace(/^::/gm, " ::");
}
