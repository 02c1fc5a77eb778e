/** What a screen is: rows with a cursor, and a picture of them. Everything is a pure function of the state. */

import type { ListState, ScreenName, State, View } from "../state/state.ts";
import type { Line } from "../text/line.ts";
import type { Area } from "./area.ts";

export interface Rows<Row> {
  readonly rows: readonly Row[];
  readonly keys: readonly string[];
}

// biome-ignore lint/suspicious/noExplicitAny: the registry holds screens of every kind of row
export interface Screen<Row = any> {
  readonly name: ScreenName;
  /** In the header, and after `:`. */
  readonly title: string;
  /** After filter and sort. */
  rows(state: State): Rows<Row>;
  /** How many rows are in sight. */
  listHeight(state: State, area: Area): number;
  /** How many rows a page is, where that is not how many are in sight. */
  pageHeight?(area: Area): number;
  draw(state: State, area: Area, list: ListState): readonly Line[];
  /** Whether rows may still come, because they have not been read. */
  reading?(state: State): boolean;
  /** Where enter leads; null: nowhere. */
  open(state: State, row: Row | undefined): View | null;
  /** What actions are done to: names of job, fire, node, alert, drill, item. */
  subject(state: State, row: Row | undefined): Readonly<Record<string, string>>;
  /** The command that shows the same, as words; empty when there is none. */
  command(state: State, row: Row | undefined): readonly string[];
}

/** The rows in sight. */
export function visible<Row>(
  { rows }: Rows<Row>,
  list: ListState,
  height: number,
): readonly { readonly row: Row; readonly index: number }[] {
  return rows.slice(list.top, list.top + height).map((row, i) => ({ row, index: list.top + i }));
}

/** Remembers the last answer for the same arguments: rows are asked for many times a frame, and change seldom. */
export function remember<Arguments extends readonly unknown[], Result>(
  compute: (...args: Arguments) => Result,
): (...args: Arguments) => Result {
  let last: { args: Arguments; result: Result } | undefined;
  return (...args) => {
    if (last && last.args.length === args.length && last.args.every((one, i) => Object.is(one, args[i])))
      return last.result;
    const result = compute(...args);
    last = { args, result };
    return result;
  };
}

/** Sorts a copy by what `by` takes from a row; nulls last, whichever way. Equal ones keep their order. */
export function sorted<Row>(
  rows: readonly Row[],
  by: (row: Row) => string | number | null,
  descending: boolean,
): Row[] {
  const sign = descending ? -1 : 1;
  return rows
    .map((row, i) => ({ row, i, value: by(row) }))
    .sort((a, b) => {
      if (a.value === b.value) return a.i - b.i;
      if (a.value === null) return 1;
      if (b.value === null) return -1;
      const order =
        typeof a.value === "string" ? a.value.localeCompare(String(b.value)) : a.value - Number(b.value);
      return order === 0 ? a.i - b.i : order * sign;
    })
    .map(({ row }) => row);
}
