/**
 * Takes secrets out of a request or response before it leaves the process.
 * The same rule as `escapement_guard.redact` in src/store/guard/call.sql;
 * test/cases/guard/redact.json holds both to it.
 */

import { storable } from "./reason.ts";

const secretNames = new Set(
  (
    "password passwd passphrase secret token accesstoken refreshtoken authtoken idtoken apikey authorization " +
    "proxyauthorization cookie setcookie privatekey credential credentials cvv cvc pin"
  ).split(" "),
);

/** @param value anything JSON can hold. @param fields more names of secret fields. @returns a copy as JSON would read it back. @throws TypeError when it is no JSON */
export function redactJson(value: unknown, fields: readonly string[] = []): unknown {
  const more = new Set(fields.map(normal));
  return clean(JSON.parse(JSON.stringify(value ?? null)), more);
}

function clean(value: unknown, more: ReadonlySet<string>): unknown {
  if (Array.isArray(value)) return value.map((entry) => clean(entry, more));
  if (typeof value === "string") {
    return storable(value).replace(/([A-Za-z][A-Za-z0-9+.-]*:\/\/[^:/?#\s@]*:)[^@/\s]*@/g, "$1***@");
  }
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([name, inner]) => [
    storable(name),
    inner !== null && isSecret(normal(name), more) ? "***" : clean(inner, more),
  ]);
  return Object.fromEntries(entries);
}

function isSecret(name: string, more: ReadonlySet<string>): boolean {
  return secretNames.has(name) || /(?:password|secret|apikey)$/.test(name) || more.has(name);
}

function normal(name: string): string {
  return name.replace(/[-_]/g, "").toLowerCase();
}
