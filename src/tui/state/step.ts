/** What one event comes to: the next state, what is to be done in the world, and what is said about it. */
import type { Effect, Notice, State } from "./state.ts";

export interface Step {
  readonly state: State;
  readonly effects: readonly Effect[];
}

/** How long a notice stays; what went wrong, four times as long. */
const noticeMs = 6_000;

export function only(state: State): Step {
  return { state, effects: [] };
}

export function noticed(state: State, text: string, tone: Notice["tone"]): State {
  return {
    ...state,
    notice: { text, tone, untilMs: state.nowMs + (tone === "bad" ? 4 * noticeMs : noticeMs) },
  };
}
