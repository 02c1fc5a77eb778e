/** What the rows of watchmen say: which one looks, which has been stopped, which is silent. */
import type { WatchmanLook } from "../../store/ui/cluster-look.ts";
import type { Tone } from "../text/line.ts";
import { coarse } from "../text/time-text.ts";

export interface WatchmanState {
  readonly state: "watches" | "stopped" | "silent";
  readonly tone: Tone;
  readonly sign: string;
  /** `looked 12s ago`. */
  readonly looked: string;
}

/** A watchman that has not looked for so long hangs, or has died. */
const silentMs = 120_000;

export function watchmanState({ stopped, passMsAgo }: WatchmanLook): WatchmanState {
  const looked = `looked ${coarse(Math.max(0, passMsAgo))} ago`;
  // Somebody wanted it so; nobody watches all the same.
  if (stopped) return { state: "stopped", tone: "warn", sign: "!", looked };
  return passMsAgo < silentMs
    ? { state: "watches", tone: "good", sign: "✓", looked }
    : { state: "silent", tone: "bad", sign: "✗", looked };
}

/** The one to show where there is room for one: one that watches, else the one that has looked last. */
export function bestWatchman(watchmen: readonly WatchmanLook[]): WatchmanLook | undefined {
  const rank = (one: WatchmanLook) => (watchmanState(one).state === "watches" ? 0 : 1);
  return [...watchmen].sort((a, b) => rank(a) - rank(b) || a.passMsAgo - b.passMsAgo)[0];
}
