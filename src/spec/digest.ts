/** The digest that says whether two definitions are the same, whatever file or key order they came from. */
import { createHash } from "node:crypto";

/** JSON with sorted keys and without absent values: equal values give equal text. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item ?? null)).join(",")}]`;
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value)
      .filter(([, item]) => item !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
    return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonicalJson(item)}`).join(",")}}`;
  }
  return JSON.stringify(value ?? null);
}

/** SHA-256 of the canonical JSON, 64 hex digits. */
export function digest(definition: unknown): string {
  return createHash("sha256").update(canonicalJson(definition)).digest("hex");
}
