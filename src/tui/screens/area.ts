/** How much of the terminal is there for what. */
import type { State } from "../state/state.ts";

export interface Area {
  readonly width: number;
  readonly height: number;
}

/** The last column and the last row stay free: a character there makes terminals wrap or scroll. */
export function frameArea({ size }: State): Area {
  return { width: size.columns - 1, height: size.rows - 1 };
}

/** Between the header and the bar. */
export function bodyArea(state: State): Area {
  const { width, height } = frameArea(state);
  return { width, height: height - 2 - (state.store.down === null ? 0 : 1) };
}
