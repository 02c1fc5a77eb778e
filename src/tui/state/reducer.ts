/**
 * From one state and one event to the next state, and what is to be done in the
 * world. Pure: no clock, no terminal, no store.
 *
 *            /            :            ?           upper-case key
 *   browse ─────▶ filter, command,  help, ask ─── esc or enter ──▶ browse
 */
import { actionNamed } from "../actions/actions.ts";
import { commandOf, questionsOf, refusalOf, shellLine } from "../actions/ask.ts";
import { bodyArea } from "../screens/frame.ts";
import { screenOf } from "../screens/registry.ts";
import { chooseCommand, runCommandLine } from "./command-line.ts";
import type { UiEvent } from "./event.ts";
import { type Intent, intentOf } from "./keymap.ts";
import { type Move, move, settle } from "./list.ts";
import {
  currentView,
  type Effect,
  type ListState,
  listOf,
  type ScreenName,
  type State,
  topScreens,
  type View,
} from "./state.ts";

export interface Step {
  readonly state: State;
  readonly effects: readonly Effect[];
}

const noticeMs = 6_000;

export function reduce(state: State, event: UiEvent): Step {
  switch (event.type) {
    case "key":
      return onKey(state, event.key);
    case "size":
      return only(settled({ ...state, size: { columns: event.columns, rows: event.rows } }));
    case "tick": {
      const notice = state.notice && state.notice.untilMs > event.nowMs ? state.notice : null;
      return only({ ...state, nowMs: event.nowMs, notice });
    }
    case "data": {
      const picture = { ...state.picture, [event.part]: { value: event.value, atMs: event.nowMs } };
      return only(settled({ ...state, picture, nowMs: Math.max(state.nowMs, event.nowMs) }));
    }
    case "store-down": {
      const downSinceMs = state.store.down === null ? event.nowMs : state.store.downSinceMs;
      return only(
        settled({ ...state, store: { down: event.reason, downSinceMs, retryAtMs: event.retryAtMs } }),
      );
    }
    case "store-up":
      return only(
        state.store.down === null ? state : settled({ ...state, store: { ...state.store, down: null } }),
      );
    case "action-started":
      return only({ ...state, busy: [...state.busy, event.title] });
    case "action-ended":
      return only(
        noticed(
          { ...state, busy: without(state.busy, event.title), nowMs: event.nowMs },
          event.text,
          event.ok ? "good" : "bad",
        ),
      );
    case "notice":
      return only(noticed({ ...state, nowMs: event.nowMs }, event.text, event.tone));
  }
}

function without(titles: readonly string[], title: string): readonly string[] {
  const at = titles.indexOf(title);
  return at < 0 ? titles : titles.toSpliced(at, 1);
}

function only(state: State): Step {
  return { state, effects: [] };
}

function noticed(state: State, text: string, tone: "good" | "bad" | "plain"): State {
  return {
    ...state,
    notice: { text, tone, untilMs: state.nowMs + (tone === "bad" ? 4 * noticeMs : noticeMs) },
  };
}

function onKey(state: State, key: string): Step {
  if (key === "ctrl-c") return only({ ...state, quit: 130 });
  switch (state.mode.kind) {
    case "browse": {
      const intent = intentOf(currentView(state).screen, key);
      return intent ? perform(state, intent) : only(state);
    }
    case "filter":
      return onFilterKey(state, state.mode.before, key);
    case "help":
      return onHelpKey(state, state.mode.top, key);
    case "command":
      return onCommandKey(state, state.mode, key);
    case "ask":
      return onAskKey(state, state.mode, key);
  }
}

/** Does what a key, or a word after `:`, stands for. */
export function perform(state: State, intent: Intent): Step {
  switch (intent.do) {
    case "move":
      return only(moved(state, intent.how));
    case "screen":
      return only(shown(state, [{ screen: topScreens[intent.index]! }]));
    case "turn": {
      const at = (topScreens as readonly string[]).indexOf(state.stack[0]!.screen);
      return only(
        shown(state, [{ screen: topScreens[(at + intent.by + topScreens.length) % topScreens.length]! }]),
      );
    }
    case "open": {
      const view = screenOf(state).open(state, chosenRow(state));
      return only(view ? shown(state, [...state.stack, view]) : state);
    }
    case "back":
      if (listOf(state).filter !== "") return only(settled(withList(state, { filter: "" })));
      return only(state.stack.length > 1 ? settled({ ...state, stack: state.stack.slice(0, -1) }) : state);
    case "filter":
      return only({ ...state, mode: { kind: "filter", before: listOf(state).filter } });
    case "command":
      return only({ ...state, mode: { kind: "command", text: "", chosen: 0 } });
    case "help":
      return only({ ...state, mode: { kind: "help", top: 0 } });
    case "quit":
      return only({ ...state, quit: 0 });
    case "interrupt":
      return only({ ...state, quit: 130 });
    case "repaint":
      return { state, effects: [{ kind: "repaint" }] };
    case "copy":
      return copied(state);
    case "sort":
      return only(resorted(state, intent.column));
    case "act":
      return asked(state, intent.action);
  }
}

/** The state with another stack of views; a list that is opened anew starts at its top. */
export function shown(state: State, stack: readonly View[]): State {
  const view = stack.at(-1)!;
  const fresh = stack.length > state.stack.length && view.screen !== currentView(state).screen;
  const lists = fresh ? { ...state.lists, [view.screen]: undefined } : state.lists;
  return settled({ ...state, stack, lists: lists as State["lists"] });
}

function moved(state: State, how: Move): State {
  const screen = screenOf(state);
  const { keys } = screen.rows(state);
  const height = screen.listHeight(state, bodyArea(state));
  return setList(state, screen.name, move(settle(listOf(state), keys, height), keys, height, how));
}

/** The cursor of the current list put where it belongs after anything has changed. */
function settled(state: State): State {
  const screen = screenOf(state);
  const { keys } = screen.rows(state);
  const list = listOf(state);
  const next = settle(list, keys, screen.listHeight(state, bodyArea(state)));
  const same = next.index === list.index && next.top === list.top && next.key === list.key;
  return same ? state : setList(state, screen.name, next);
}

function withList(state: State, change: Partial<ListState>): State {
  return setList(state, currentView(state).screen, { ...listOf(state), ...change });
}

function setList(state: State, screen: ScreenName, list: ListState): State {
  return { ...state, lists: { ...state.lists, [screen]: list } };
}

function chosenRow(state: State): unknown {
  return screenOf(state).rows(state).rows[listOf(state).index];
}

/** Down, up, and none again. */
function resorted(state: State, column: string): State {
  const { sort } = listOf(state);
  const next =
    sort?.column !== column
      ? { column, descending: false }
      : sort.descending
        ? null
        : { column, descending: true };
  return settled(withList(state, { sort: next, key: null, index: 0, top: 0 }));
}

function copied(state: State): Step {
  const words = screenOf(state).command(state, chosenRow(state));
  if (words.length === 0) return only(noticed(state, "no command shows the same", "plain"));
  const text = shellLine(["escapement", ...words, ...state.storeOptions]);
  return { state: noticed(state, text, "plain"), effects: [{ kind: "copy", text }] };
}

/** Begins to ask for what an action needs, or says why it cannot be done. */
export function asked(state: State, name: string): Step {
  const action = actionNamed(name);
  if (!action) return only(state);
  const subject = screenOf(state).subject(state, chosenRow(state));
  const refusal = refusalOf(action, state, subject);
  if (refusal) return only(noticed(state, `${action.title}: not now, ${refusal}`, "bad"));
  return only({
    ...state,
    mode: { kind: "ask", action: name, subject, questions: questionsOf(action, subject), at: 0 },
  });
}

/** @returns the text after a key of typing, or undefined when the key is none */
function typed(text: string, key: string): string | undefined {
  if (key === "backspace" || key === "delete") return [...text].slice(0, -1).join("");
  if (key === "ctrl-u") return "";
  if (key === "ctrl-w") return text.replace(/\S*\s*$/, "");
  return [...key].length === 1 ? text + key : undefined;
}

const browse = { kind: "browse" } as const;

function onFilterKey(state: State, before: string, key: string): Step {
  if (key === "enter") return only({ ...state, mode: browse });
  if (key === "esc") return only(settled(withList({ ...state, mode: browse }, { filter: before })));
  const filter = typed(listOf(state).filter, key);
  if (filter !== undefined) return only(settled(withList(state, { filter })));
  // The arrows go on working while a filter is typed.
  const intent = intentOf(currentView(state).screen, key);
  return intent?.do === "move" ? only(moved(state, intent.how)) : only(state);
}

function onHelpKey(state: State, top: number, key: string): Step {
  const intent = intentOf(currentView(state).screen, key);
  if (intent?.do === "move" && "by" in intent.how)
    return only({ ...state, mode: { kind: "help", top: Math.max(0, top + intent.how.by) } });
  if (intent?.do === "move") return only(state);
  return only({ ...state, mode: browse });
}

function onCommandKey(state: State, mode: Extract<State["mode"], { kind: "command" }>, key: string): Step {
  if (key === "esc" || (key === "backspace" && mode.text === "")) return only({ ...state, mode: browse });
  if (key === "enter")
    return runCommandLine({ ...state, mode: browse }, mode.text, mode.chosen, {
      perform,
      shown,
      asked,
      noticed,
    });
  const completed = chooseCommand(state, mode.text, mode.chosen, key);
  if (completed) return only({ ...state, mode: { kind: "command", ...completed } });
  const text = typed(mode.text, key);
  return only(text === undefined ? state : { ...state, mode: { kind: "command", text, chosen: 0 } });
}

function onAskKey(state: State, mode: Extract<State["mode"], { kind: "ask" }>, key: string): Step {
  if (key === "esc") return only(noticed({ ...state, mode: browse }, "nothing was done", "plain"));
  const question = mode.questions[mode.at]!;
  if (key !== "enter") {
    const value = typed(question.value, key);
    if (value === undefined) return only(state);
    return only({
      ...state,
      mode: { ...mode, questions: mode.questions.with(mode.at, { ...question, value }) },
    });
  }
  if (question.mustBe !== undefined && question.value !== question.mustBe)
    return only(noticed(state, `type ${question.mustBe} to go on, or esc`, "bad"));
  if (question.value.trim() === "" && !question.optional)
    return only(noticed(state, `${question.label}: ${question.hint}`, "bad"));
  if (mode.at + 1 < mode.questions.length) return only({ ...state, mode: { ...mode, at: mode.at + 1 } });
  const action = actionNamed(mode.action)!;
  const args = commandOf(action, mode.subject, mode.questions, state);
  return {
    state: { ...state, mode: browse, notice: null, busy: [...state.busy, action.title] },
    effects: [{ kind: "run", title: action.title, args, report: action.answersReport ?? false }],
  };
}
