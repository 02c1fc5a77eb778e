/**
 * The one table of keys: what a key does, what the help says of it, and what the
 * bottom bar shows. Nothing else decides on a key.
 */
import { actions } from "../actions/actions.ts";
import type { Move } from "./list.ts";
import { type ScreenName, topScreens } from "./state.ts";

export type Intent =
  | { readonly do: "move"; readonly how: Move }
  | { readonly do: "screen"; readonly index: number }
  | { readonly do: "turn"; readonly by: number }
  | {
      readonly do:
        | "open"
        | "back"
        | "filter"
        | "command"
        | "help"
        | "quit"
        | "interrupt"
        | "copy"
        | "repaint"
        | "inspect";
    }
  | { readonly do: "sort"; readonly column: string }
  | { readonly do: "act"; readonly action: string };

export interface Binding {
  /** Names of keys; a printable one is its character. */
  readonly keys: readonly string[];
  /** As the help and the bar write them. */
  readonly shown: string;
  readonly label: string;
  readonly help: string;
  /** Where it is understood; everywhere, when there is none. */
  readonly screens?: readonly ScreenName[];
  /** In the bottom bar, the smaller the earlier; none: only in the help. */
  readonly bar?: number;
  readonly group: "Move" | "Go" | "Sort" | "Change";
  readonly intent: Intent;
}

const moves: readonly Binding[] = [
  {
    keys: ["down", "j"],
    shown: "j ↓",
    label: "down",
    help: "one row down",
    group: "Move",
    intent: { do: "move", how: { by: 1 } },
  },
  {
    keys: ["up", "k"],
    shown: "k ↑",
    label: "up",
    help: "one row up",
    group: "Move",
    intent: { do: "move", how: { by: -1 } },
  },
  {
    keys: ["pagedown", "ctrl-f", " "],
    shown: "PgDn",
    label: "page down",
    help: "one page down; also space",
    group: "Move",
    intent: { do: "move", how: { pages: 1 } },
  },
  {
    keys: ["pageup", "ctrl-b"],
    shown: "PgUp",
    label: "page up",
    help: "one page up",
    group: "Move",
    intent: { do: "move", how: { pages: -1 } },
  },
  {
    keys: ["home", "g"],
    shown: "g",
    label: "first",
    help: "first row",
    group: "Move",
    intent: { do: "move", how: { to: "first" } },
  },
  {
    keys: ["end", "G"],
    shown: "G",
    label: "last",
    help: "last row",
    group: "Move",
    intent: { do: "move", how: { to: "last" } },
  },
];

const ways: readonly Binding[] = [
  {
    keys: ["enter", "right", "l"],
    shown: "⏎",
    label: "open",
    help: "into what the cursor is on; also l and →",
    bar: 1,
    group: "Go",
    intent: { do: "open" },
  },
  {
    keys: ["esc", "left", "h"],
    shown: "esc",
    label: "back",
    help: "out again, or take the filter away; also h and ←",
    bar: 2,
    group: "Go",
    intent: { do: "back" },
  },
  {
    keys: ["/"],
    shown: "/",
    label: "filter",
    help: "show only rows with these words; !word: without it",
    bar: 3,
    group: "Go",
    intent: { do: "filter" },
  },
  {
    keys: [":"],
    shown: ":",
    label: "command",
    help: "go to a screen or a job, or do something, by name",
    bar: 4,
    group: "Go",
    intent: { do: "command" },
  },
  {
    keys: ["y"],
    shown: "y",
    label: "copy command",
    help: "show and copy the command that shows the same",
    bar: 7,
    group: "Go",
    intent: { do: "copy" },
  },
  {
    keys: ["i"],
    shown: "i",
    label: "inspect",
    help: "read facts and drift of the hosts of the inventory again; changes nothing",
    screens: ["hosts"],
    bar: 6,
    group: "Go",
    intent: { do: "inspect" },
  },
  {
    keys: ["tab"],
    shown: "tab",
    label: "next screen",
    help: "the next screen",
    group: "Go",
    intent: { do: "turn", by: 1 },
  },
  {
    keys: ["shift-tab"],
    shown: "shift-tab",
    label: "previous screen",
    help: "the screen before",
    group: "Go",
    intent: { do: "turn", by: -1 },
  },
  {
    keys: ["ctrl-l"],
    shown: "ctrl-l",
    label: "repaint",
    help: "draw everything anew",
    group: "Go",
    intent: { do: "repaint" },
  },
  { keys: ["?"], shown: "?", label: "help", help: "this page", bar: 8, group: "Go", intent: { do: "help" } },
  { keys: ["q"], shown: "q", label: "quit", help: "leave", bar: 9, group: "Go", intent: { do: "quit" } },
  {
    keys: ["ctrl-c"],
    shown: "ctrl-c",
    label: "quit",
    help: "leave at once, whatever is being typed",
    group: "Go",
    intent: { do: "interrupt" },
  },
];

const numbers: readonly Binding[] = topScreens.map((screen, i) => ({
  keys: [String(i + 1)],
  shown: String(i + 1),
  label: screen,
  help: `the screen ${screen}`,
  group: "Go",
  intent: { do: "screen", index: i },
}));

const sorts: readonly [letter: string, column: string, screens: readonly ScreenName[]][] = [
  ["N", "name", ["jobs", "hosts", "alerts"]],
  ["L", "last", ["jobs"]],
  ["X", "next", ["jobs"]],
  ["T", "took", ["jobs", "job", "execution"]],
  ["W", "worst", ["jobs"]],
  ["S", "state", ["execution", "hosts", "job"]],
  ["A", "attempt", ["execution"]],
  ["O", "owner", ["execution"]],
  ["C", "clock", ["hosts"]],
  ["T", "time", ["alerts", "drills"]],
];

const sortings: readonly Binding[] = sorts.map(([letter, column, screens]) => ({
  keys: [letter],
  shown: letter,
  label: `by ${column}`,
  help: `sort by ${column}; once more: the other way round; a third time: as it was`,
  screens,
  group: "Sort",
  intent: { do: "sort", column },
}));

const changes: readonly Binding[] = actions.map(({ name, key, title, screens }) => ({
  keys: [key],
  shown: key,
  label: name.replace("-", " "),
  help: title,
  screens,
  bar: 5,
  group: "Change",
  intent: { do: "act", action: name },
}));

export const keymap: readonly Binding[] = [...ways, ...changes, ...moves, ...numbers, ...sortings];

/** The bindings of a screen, in the order of the table. */
export function bindingsOf(screen: ScreenName): readonly Binding[] {
  return keymap.filter(({ screens }) => !screens || screens.includes(screen));
}

/** What a key means on a screen. */
export function intentOf(screen: ScreenName, key: string): Intent | undefined {
  return bindingsOf(screen).find(({ keys }) => keys.includes(key))?.intent;
}
