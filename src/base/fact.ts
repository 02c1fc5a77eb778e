/** What is known about a host, and what is not, with the reason. A missing fact is never a guess. */

/** One thing that was read, or why it was not. */
export type Fact<T> = { readonly known: T } | Unknown;

export interface Unknown {
  /** Why, as half a sentence: "dmidecode: needs root". */
  readonly unknown: string;
}

/**
 * A list that is known only when it was read to its end. What was seen of a
 * list that may have been cut stays visible for findings against the host;
 * nothing in favour of it may be concluded from it.
 */
export type ListFact<T> =
  | { readonly known: readonly T[] }
  | { readonly unknown: string; readonly seen?: readonly T[] };

export function known<T>(value: T): { readonly known: T } {
  return { known: value };
}

export function unknown(reason: string): Unknown {
  return { unknown: reason };
}

export function isKnown<T>(fact: Fact<T>): fact is { readonly known: T } {
  return "known" in fact;
}

/** The value, or undefined. */
export function factValue<T>(fact: Fact<T>): T | undefined {
  return "known" in fact ? fact.known : undefined;
}

/** The reason why it is not known, or undefined. */
export function reasonOf(fact: Fact<unknown>): string | undefined {
  return "known" in fact ? undefined : fact.unknown;
}

/** Why it is not known, for a sentence; empty where it is. */
export function whyUnknown(fact: Fact<unknown> | ListFact<unknown>): string {
  return "known" in fact ? "" : fact.unknown;
}

/** The value where there is one; else unknown with the reason. `null` and NaN are no values. */
export function fromValue<T>(value: T | undefined | null, reason: string): Fact<T> {
  if (value === undefined || value === null || (typeof value === "number" && !Number.isFinite(value)))
    return unknown(reason);
  return known(value);
}

/** Applies a function to a known value; `undefined` from it is unknown for the second reason. */
export function mapFact<T, U>(
  fact: Fact<T>,
  change: (value: T) => U | undefined,
  otherwise: string,
): Fact<U> {
  return "known" in fact ? fromValue(change(fact.known), otherwise) : fact;
}

/** The first that is known; if none is, unknown with the reasons of all. */
export function firstKnown<T>(...facts: readonly Fact<T>[]): Fact<T> {
  const reasons = new Set<string>();
  for (const fact of facts) {
    if ("known" in fact) return fact;
    reasons.add(fact.unknown);
  }
  return unknown([...reasons].join("; ") || "nothing was read");
}

/** Every row that could be read, whether the list is whole or not. */
export function seenOf<T>(list: ListFact<T>): readonly T[] {
  return "known" in list ? list.known : (list.seen ?? []);
}

/** A list, known only when it was read to its end. */
export function listFact<T>(items: readonly T[], isWhole: boolean, reason: string): ListFact<T> {
  if (isWhole) return { known: items };
  return items.length > 0 ? { unknown: reason, seen: items } : { unknown: reason };
}
