/** Keys and pastes while something is typed: a filter, a command, an answer. */
import { actionNamed } from "../actions/actions.ts";
import { commandOf } from "../actions/ask.ts";
import { bodyArea } from "../screens/area.ts";
import { lastHelpTop } from "../screens/help.ts";
import { cleaned } from "../text/line.ts";
import { moved, settled, shown, withList } from "./arrange.ts";
import { chooseCommand, runCommandLine } from "./command-line.ts";
import { type Intent, intentOf } from "./keymap.ts";
import { currentView, listOf, type Mode, type State } from "./state.ts";
import { noticed, only, type Step } from "./step.ts";

/** @returns the text after a key of typing, or undefined when the key is none */
function typed(text: string, key: string): string | undefined {
  if (key === "backspace" || key === "delete") return [...text].slice(0, -1).join("");
  if (key === "ctrl-u") return "";
  if (key === "ctrl-w") return text.replace(/\S*\s*$/, "");
  return [...key].length === 1 ? text + key : undefined;
}

const browse = { kind: "browse" } as const;

/** What the reducer does for what is typed: a completed command line, or the arrows. */
export interface Doing {
  perform(state: State, intent: Intent): Step;
  asked(state: State, action: string): Step;
}

/** A key in a mode in which text is typed, or help is read. */
export function onTypingKey(state: State, key: string, doing: Doing): Step {
  switch (state.mode.kind) {
    case "browse":
      return only(state);
    case "filter":
      return onFilterKey(state, state.mode.before, key);
    case "help":
      return onHelpKey(state, state.mode.top, key);
    case "command":
      return onCommandKey(state, state.mode, key, doing);
    case "ask":
      return onAskKey(state, state.mode, key);
  }
}

/** A paste goes into the field that is typed in. Where nothing is typed it is nothing: its letters are nobody's keys. */
export function onPaste(state: State, pasted: string): State {
  const text = cleaned(pasted.slice(0, mostPasted)).trim();
  if (text === "") return state;
  switch (state.mode.kind) {
    case "filter":
      return settled(withList(state, { filter: listOf(state).filter + text }));
    case "command":
      return { ...state, mode: { kind: "command", text: state.mode.text + text, chosen: 0 } };
    case "ask": {
      const { questions, at } = state.mode;
      const question = questions[at]!;
      const filled = { ...question, value: question.value + text };
      return { ...state, mode: { ...state.mode, questions: questions.with(at, filled) } };
    }
    default:
      return noticed(state, "a paste is no key: / or : first, then it is put there", "plain");
  }
}

const mostPasted = 2_000;

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
  if (intent?.do === "move") {
    const area = bodyArea(state);
    const last = lastHelpTop(state, area);
    const { how } = intent;
    const next =
      "to" in how
        ? how.to === "first"
          ? 0
          : last
        : top + ("by" in how ? how.by : how.pages * Math.max(1, area.height - 3));
    return only({ ...state, mode: { kind: "help", top: Math.max(0, Math.min(last, next)) } });
  }
  return only({ ...state, mode: browse });
}

function onCommandKey(
  state: State,
  mode: Extract<Mode, { kind: "command" }>,
  key: string,
  doing: Doing,
): Step {
  if (key === "esc" || (key === "backspace" && mode.text === "")) return only({ ...state, mode: browse });
  if (key === "enter")
    return runCommandLine({ ...state, mode: browse }, mode.text, mode.chosen, {
      ...doing,
      shown,
      noticed,
    });
  const completed = chooseCommand(state, mode.text, mode.chosen, key);
  if (completed) return only({ ...state, mode: { kind: "command", ...completed } });
  const text = typed(mode.text, key);
  return only(text === undefined ? state : { ...state, mode: { kind: "command", text, chosen: 0 } });
}

function onAskKey(state: State, mode: Extract<Mode, { kind: "ask" }>, key: string): Step {
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
  if (mode.at + 1 < mode.questions.length)
    return only({ ...state, notice: null, mode: { ...mode, at: mode.at + 1 } });
  const action = actionNamed(mode.action)!;
  const args = commandOf(action, mode.subject, mode.questions, state);
  return {
    state: { ...state, mode: browse, notice: null, busy: [...state.busy, action.title] },
    effects: [{ kind: "run", title: action.title, args, report: action.answersReport ?? false }],
  };
}
