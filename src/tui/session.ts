/**
 * The state, whoever listens to it, and the effects that a step asks for.
 *
 * What a person does is drawn at once, together with all news that wait; news alone
 * are drawn at a beat, and not while keys arrive one after the other:
 *
 *   news ──▶ wait for the beat ──▶ drawn
 *              │          ▲
 *              │ a key: drawn at once, with the news   (then quiet for a while)
 *              └──────────┘
 */
import type { UiEvent } from "./state/event.ts";
import { reduce } from "./state/reducer.ts";
import type { Effect, State } from "./state/state.ts";
import { Tickets } from "./terminal/tickets.ts";
import type { Look } from "./text/palette.ts";

export interface Session {
  readonly look: Look;
  readonly tickets: Tickets;
  current(): State;
  /** The state that is on the screen: the current one, or one a beat behind it. */
  drawn(): State;
  send(event: UiEvent): void;
  /** Told of every change. */
  subscribe(listener: () => void): () => void;
  /** Told when it is time to draw. */
  subscribeToDraw(listener: () => void): () => void;
}

/** News of many sources fall into one frame: those that come together, and no more than so many frames. */
const [togetherMs, beatMs] = [10, 100];
/** After a key, the next one is more likely than anything else: a hand that scrolls is never made to wait for news. */
const quietMs = 150;

export function startSession(
  start: State,
  look: Look,
  perform: (effect: Effect, session: Session) => void,
): Session {
  let state = start;
  let drawn = start;
  let drawnAt = 0;
  let quietUntil = 0;
  let beat: NodeJS.Timeout | undefined;
  const listeners = new Set<() => void>();
  const draws = new Set<() => void>();
  const draw = () => {
    clearTimeout(beat);
    beat = undefined;
    if (drawn === state) return;
    drawn = state;
    drawnAt = performance.now();
    for (const listener of draws) listener();
  };
  const drawLater = () => {
    beat ??= setTimeout(
      () => {
        beat = undefined;
        if (performance.now() < quietUntil) drawLater();
        else draw();
      },
      Math.max(togetherMs, Math.max(drawnAt + beatMs, quietUntil) - performance.now()),
    );
  };
  const session: Session = {
    look,
    tickets: new Tickets(),
    current: () => state,
    drawn: () => drawn,
    send(event) {
      const step = reduce(state, event);
      const changed = step.state !== state;
      state = step.state;
      for (const effect of step.effects) perform(effect, session);
      if (!changed) return;
      if (event.type === "key" || event.type === "paste") quietUntil = performance.now() + quietMs;
      if (isNews(event)) drawLater();
      else draw();
      for (const listener of listeners) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    subscribeToDraw(listener) {
      draws.add(listener);
      return () => draws.delete(listener);
    },
  };
  return session;
}

/** Comes by itself; everything else a person has asked for, and waits for. */
function isNews({ type }: UiEvent): boolean {
  return type === "data" || type === "tick" || type === "store-down" || type === "store-up";
}
