/** Careful steps through JSON of a shape that no one promised. */
import { type Fact, known, unknown } from "../base/fact.ts";
import type { Output } from "./output.ts";

/**
 * The JSON document in a text: all of it, or what stands between the first line
 * that begins with a bracket and the last that ends with one (tools print
 * warnings around it). A document that was cut does not parse and is unknown.
 */
export function jsonIn(output: Output): Fact<unknown> {
  const text = output.text.trim();
  if (text === "") return unknown("the output is empty");
  const whole = tryParse(text);
  if (whole !== undefined) return known(whole);
  const begin = /^[ \t]*[{[]/m.exec(text);
  if (!begin) return unknown("the output holds no JSON");
  const ends = [...text.matchAll(/[}\]][ \t]*$/gm)];
  const end = ends.at(-1)?.index ?? -1;
  const inner = end > begin.index ? tryParse(text.slice(begin.index, end + 1)) : undefined;
  return inner === undefined ? unknown("the JSON is broken or was cut") : known(inner);
}

function tryParse(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The value at a path of keys and indexes, or undefined. */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  let here = value;
  for (const key of path) {
    if (typeof here !== "object" || here === null || !Object.hasOwn(here, key)) return undefined;
    here = (here as Record<string | number, unknown>)[key];
  }
  return here;
}

/** A number, or text that is nothing but one ("1,234" and "0x10" too). */
export function asNumber(value: unknown): number | undefined {
  if (typeof value === "number") return Number.isFinite(value) ? value : undefined;
  if (typeof value !== "string") return undefined;
  const text = value.trim().replace(/(?<=\d),(?=\d{3}(\D|$))/g, "");
  if (!/^-?(\d+(\.\d+)?|0x[\da-f]+)$/i.test(text)) return undefined;
  return Number(text);
}

/** Text that is not empty, trimmed; a number becomes text. */
export function asText(value: unknown): string | undefined {
  if (typeof value === "number") return String(value);
  if (typeof value !== "string") return undefined;
  return value.trim() || undefined;
}

/** true, false, and what older tools write instead: "1", "0", 1, 0, "yes", "no". */
export function asBoolean(value: unknown): boolean | undefined {
  if (typeof value === "boolean") return value;
  const text = typeof value === "number" ? String(value) : typeof value === "string" ? value.trim() : "";
  if (/^(1|yes|true)$/i.test(text)) return true;
  if (/^(0|no|false)$/i.test(text)) return false;
  return undefined;
}

export function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Own keys and values of an object; nothing for anything else. */
export function entriesOf(value: unknown): [string, unknown][] {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? Object.entries(value) : [];
}
