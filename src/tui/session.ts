/** The state, whoever listens to it, and the effects that a step asks for. */
import type { UiEvent } from "./state/event.ts";
import { reduce } from "./state/reducer.ts";
import type { Effect, State } from "./state/state.ts";
import { Tickets } from "./terminal/tickets.ts";
import type { Look } from "./text/palette.ts";

export interface Session {
  readonly look: Look;
  readonly tickets: Tickets;
  current(): State;
  send(event: UiEvent): void;
  subscribe(listener: () => void): () => void;
}

export function startSession(
  start: State,
  look: Look,
  perform: (effect: Effect, session: Session) => void,
): Session {
  let state = start;
  const listeners = new Set<() => void>();
  const session: Session = {
    look,
    tickets: new Tickets(),
    current: () => state,
    send(event) {
      const step = reduce(state, event);
      const changed = step.state !== state;
      state = step.state;
      for (const effect of step.effects) perform(effect, session);
      if (changed) for (const listener of listeners) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  return session;
}
