/**
 * From one state and one event to the next state, and what is to be done in the
 * world. Pure: no clock, no terminal, no store.
 *
 *            /            :            ?           upper-case key
 *   browse ─────▶ filter, command,  help, ask ─── esc or enter ──▶ browse
 */
import { actionNamed } from "../actions/actions.ts";
import { questionsOf, refusalOf, shellLine } from "../actions/ask.ts";
import { screenOf } from "../screens/registry.ts";
import { chosenRow, moved, opened, resorted, settled, shown, withList } from "./arrange.ts";
import type { UiEvent } from "./event.ts";
import { type Intent, intentOf } from "./keymap.ts";
import { currentView, listOf, type State, topScreens } from "./state.ts";
import { noticed, only, type Step } from "./step.ts";
import { onPaste, onTypingKey } from "./typing.ts";

export function reduce(state: State, event: UiEvent): Step {
  switch (event.type) {
    case "key":
      return onKey(state, event.key);
    case "paste":
      return only(onPaste(state, event.text));
    case "size":
      return only(settled({ ...state, size: { columns: event.columns, rows: event.rows } }));
    case "tick": {
      const notice = state.notice && state.notice.untilMs > event.nowMs ? state.notice : null;
      return only({ ...state, nowMs: event.nowMs, notice });
    }
    case "data": {
      const picture = { ...state.picture, [event.part]: { value: event.value, atMs: event.nowMs } };
      const next = settled({ ...state, picture, nowMs: Math.max(state.nowMs, event.nowMs) });
      const { opening } = next;
      return only(opening?.view === currentView(next) ? opened(next, opening.times) : next);
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

function onKey(before: State, key: string): Step {
  const { opening } = before;
  if (opening && key === "enter")
    return only({ ...before, opening: { ...opening, times: opening.times + 1 } });
  const state = opening ? { ...before, opening: null } : before;
  if (key === "ctrl-c") return only({ ...state, quit: 130 });
  if (state.mode.kind !== "browse") return onTypingKey(state, key, { perform, asked });
  const intent = intentOf(currentView(state).screen, key);
  return intent ? perform(state, intent) : only(state);
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
    case "open":
      return only(opened(state));
    case "back":
      return only(back({ ...state, notice: null }));
    case "inspect":
      return inspected(state);
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

/** A notice goes away with it; then a filter, then the view. */
function back(state: State): State {
  if (listOf(state).filter !== "") return settled(withList(state, { filter: "" }));
  return state.stack.length > 1 ? settled({ ...state, stack: state.stack.slice(0, -1) }) : state;
}

/** Facts and drift of the hosts, read anew. */
function inspected(state: State): Step {
  if (state.inventory === null)
    return only(noticed(state, "facts and drift are read from the hosts: start with -i INVENTORY", "bad"));
  return { state, effects: [{ kind: "inspect" }] };
}

function copied(state: State): Step {
  const words = screenOf(state).command(state, chosenRow(state));
  if (words.length === 0) return only(noticed(state, "no command shows the same", "plain"));
  const text = shellLine(["escapement", ...words, ...state.storeOptions]);
  return { state: noticed(state, text, "plain"), effects: [{ kind: "copy", text }] };
}

/** Begins to ask for what an action needs, or says why it cannot be done. */
function asked(state: State, name: string): Step {
  const action = actionNamed(name);
  if (!action) return only(state);
  const subject = screenOf(state).subject(state, chosenRow(state));
  const refusal = refusalOf(action, state, subject);
  if (refusal) return only(noticed(state, `${action.title}: not now, ${refusal}`, "bad"));
  return only({
    ...state,
    notice: null,
    mode: { kind: "ask", action: name, subject, questions: questionsOf(action, subject), at: 0 },
  });
}
