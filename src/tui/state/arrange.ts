/** Which view is shown, and where the cursor of its list stands. Pure. */
import { bodyArea } from "../screens/area.ts";
import { screenOf } from "../screens/registry.ts";
import { type Move, move, settle } from "./list.ts";
import { currentView, type ListState, listOf, type ScreenName, type State, type View } from "./state.ts";

/** The state with another stack of views; a list that is opened anew starts at its top. */
export function shown(state: State, stack: readonly View[]): State {
  const view = stack.at(-1)!;
  const fresh = stack.length > state.stack.length && view.screen !== currentView(state).screen;
  const lists = fresh ? { ...state.lists, [view.screen]: undefined } : state.lists;
  return settled({ ...state, stack, lists: lists as State["lists"] });
}

export function moved(state: State, how: Move): State {
  const screen = screenOf(state);
  const { keys } = screen.rows(state);
  const area = bodyArea(state);
  const height = screen.listHeight(state, area);
  const page = screen.pageHeight?.(area) ?? height;
  return setList(state, screen.name, move(settle(listOf(state), keys, height), keys, height, how, page));
}

/** The cursor of the current list put where it belongs after anything has changed. */
export function settled(state: State): State {
  const screen = screenOf(state);
  const { keys } = screen.rows(state);
  const list = listOf(state);
  const next = settle(list, keys, screen.listHeight(state, bodyArea(state)));
  const same = next.index === list.index && next.top === list.top && next.key === list.key;
  return same ? state : setList(state, screen.name, next);
}

export function withList(state: State, change: Partial<ListState>): State {
  return setList(state, currentView(state).screen, { ...listOf(state), ...change });
}

function setList(state: State, screen: ScreenName, list: ListState): State {
  return { ...state, lists: { ...state.lists, [screen]: list } };
}

/** Into what the cursor is on, so many times. Where its rows are still being read, as soon as they are there. */
export function opened(state: State, times = 1): State {
  const screen = screenOf(state);
  const row = chosenRow(state);
  if (row === undefined && screen.reading?.(state))
    return { ...state, opening: { view: currentView(state), times } };
  const view = screen.open(state, row);
  const here = state.opening === null ? state : { ...state, opening: null };
  if (!view) return here;
  const there = shown(here, [...here.stack, view]);
  return times > 1 ? opened(there, times - 1) : there;
}

export function chosenRow(state: State): unknown {
  return screenOf(state).rows(state).rows[listOf(state).index];
}

/** Down, up, and none again. */
export function resorted(state: State, column: string): State {
  const { sort } = listOf(state);
  const next =
    sort?.column !== column
      ? { column, descending: false }
      : sort.descending
        ? null
        : { column, descending: true };
  return settled(withList(state, { sort: next, key: null, index: 0, top: 0 }));
}
