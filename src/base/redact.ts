/** Takes secrets out of text before it is printed, logged or stored. */

/** Replaces the password of any URL and the value of `password=…`-like pairs by `***`. */
export function redact(text: string): string {
  return text
    .replace(/([a-z][a-z0-9+.-]*:\/\/[^:/?#\s]*:)[^@\s]*@/gi, "$1***@")
    .replace(
      /((?:password|passwd|secret|token|api[-_]?key|authorization)\s*[=:]\s*)("[^"]*"|'[^']*'|\S+)/gi,
      "$1***",
    );
}
