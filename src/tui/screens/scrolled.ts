/** A screen that is a text: its rows are the lines that may be the first in sight, so that a key down moves what is read. */
import type { ListState, State } from "../state/state.ts";
import type { Line } from "../text/line.ts";
import { type Area, bodyArea } from "./area.ts";
import type { Rows, Screen } from "./screen.ts";

/** Within the edges of its box. */
function roomOf({ height }: Area): number {
  return Math.max(1, height - 2);
}

/** @param linesOf the text, broken for so many columns */
export function scrolled(
  linesOf: (state: State, width: number) => readonly Line[],
): Pick<Screen<string>, "rows" | "listHeight" | "pageHeight" | "open"> {
  return {
    rows: (state) => {
      const area = bodyArea(state);
      return tops(linesOf(state, area.width - 4).length, roomOf(area));
    },
    listHeight: () => 1,
    pageHeight: roomOf,
    open: () => null,
  };
}

/** The lines in sight, and how many follow. */
export function inSight(
  lines: readonly Line[],
  { top }: ListState,
  area: Area,
): { readonly shown: readonly Line[]; readonly more: number } {
  const shown = lines.slice(top, top + roomOf(area));
  return { shown, more: lines.length - top - shown.length };
}

function tops(lines: number, room: number): Rows<string> {
  const keys = Array.from({ length: Math.max(1, lines - room + 1) }, (_, i) => String(i));
  return { rows: keys, keys };
}
