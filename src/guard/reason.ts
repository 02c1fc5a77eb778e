/** What is written down about an error, and about any text that comes from outside. */
import { messageOf } from "../base/errors.ts";
import { redact } from "../base/redact.ts";

/** Without what PostgreSQL can not hold: a zero character and half a surrogate pair become U+FFFD. */
export function storable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it is the one that must go
  return text.replace(/\u0000|\p{Surrogate}/gu, "\ufffd");
}

/** The message of an error, without secrets. */
export function reasonOf(error: unknown): string {
  return storable(redact(messageOf(error)));
}
