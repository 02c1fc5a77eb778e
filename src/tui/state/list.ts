/** The cursor of a list, and which rows are in sight. Pure. */
import type { ListState } from "./state.ts";

export type Move = { readonly by: number } | { readonly pages: number } | { readonly to: "first" | "last" };

/**
 * The list as it stands over these rows: the cursor on its row wherever that is
 * now, or as near as can be when the row is gone, and in sight.
 */
export function settle(list: ListState, keys: readonly string[], height: number): ListState {
  if (keys.length === 0) return { ...list, index: 0, top: 0 };
  const asked = Math.min(list.index, keys.length - 1);
  const index = list.key === null || keys[asked] === list.key ? asked : Math.max(keys.indexOf(list.key), -1);
  const found = index < 0 ? asked : index;
  // Nobody has moved it yet: it stays at the top, whatever comes there.
  const key = list.key === null ? null : (keys[found] ?? null);
  return inSight({ ...list, index: found, key }, keys.length, height);
}

/** @param pageHeight rows of a page, where they are not those in sight */
export function move(
  list: ListState,
  keys: readonly string[],
  height: number,
  how: Move,
  pageHeight = height,
): ListState {
  if (keys.length === 0) return list;
  const last = keys.length - 1;
  const page = Math.max(1, pageHeight - 1);
  const wanted =
    "to" in how ? (how.to === "first" ? 0 : last) : list.index + ("by" in how ? how.by : how.pages * page);
  const index = Math.min(last, Math.max(0, wanted));
  return inSight({ ...list, index, key: keys[index]! }, keys.length, height);
}

function inSight(list: ListState, length: number, height: number): ListState {
  const rows = Math.max(1, height);
  let { top } = list;
  if (list.index < top) top = list.index;
  if (list.index >= top + rows) top = list.index - rows + 1;
  return { ...list, top: Math.max(0, Math.min(top, length - rows)) };
}

/** Whether a text fits a filter: every word of it is in the text, in any order; a word after `!` must not be. Case does not matter. */
export function fitsFilter(text: string, filter: string): boolean {
  const lower = text.toLowerCase();
  return filter
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "" && word !== "!")
    .every((word) => (word.startsWith("!") ? !lower.includes(word.slice(1)) : lower.includes(word)));
}
