/** A number that shows its working. Nothing in this folder hands out a bare number to be printed. */
import { type SourceId, sourceOf } from "./source.ts";

/** The unit a figure is in; decides how it is printed, never converts. */
export type Unit =
  | "count"
  | "bytes"
  | "bytes/row"
  | "bytes/day"
  | "rows/day"
  | "ms"
  | "per second"
  | "per day"
  | "ratio"
  | "share"
  | "watts"
  | "rack units"
  | "days"
  | "memory"
  | "money"
  | "text";

export interface Figure {
  /** What it is, in a few words. */
  readonly label: string;
  readonly value: number;
  readonly unit: Unit;
  /** The formula in words and signs, with the numbers filled in. */
  readonly formula: string;
  /** What went in, by name. */
  readonly inputs: Readonly<Record<string, number | string>>;
  /** Where the formula, or the number itself, comes from. */
  readonly source: { readonly id: SourceId; readonly kind: string; readonly text: string };
}

/** Which of several limits decided, and what the others would have allowed. */
export interface Binding {
  /** The name of the limit that decided. */
  readonly constraint: string;
  readonly why: string;
  /** Every limit that was looked at. */
  readonly limits: readonly {
    readonly name: string;
    readonly allows: number | string;
    readonly formula: string;
  }[];
}

/** The result of a calculator: figures in reading order, what binds, and what a reader must know. */
export interface Answer {
  readonly figures: Readonly<Record<string, Figure>>;
  readonly binding: Binding;
  readonly notes: readonly string[];
}

/** Builds a figure; throws on a number that is none, so that NaN never reaches a purchase order. */
export function figure(
  label: string,
  value: number,
  unit: Unit,
  formula: string,
  inputs: Record<string, number | string>,
  source: SourceId,
): Figure {
  if (!Number.isFinite(value)) throw new RangeError(`figure "${label}" is ${value}: ${formula}`);
  const { kind, text } = sourceOf(source);
  return { label, value, unit, formula, inputs, source: { id: source, kind, text } };
}
