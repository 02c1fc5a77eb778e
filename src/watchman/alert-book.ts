/**
 * What is open, what is over, and what must be said about it: a pure step from
 * one pass to the next.
 *
 *               first seen            seen twice, or for the rule's `for`,
 *   (nothing) ────────────▶ pending ──────────and the grace is over──────▶ open
 *        ▲                     │                                         │  ▲
 *        └──────not seen───────┘                     not seen in two     │  │ seen again: a new
 *                                                    passes of a whole   ▼  │ episode, from pending
 *                                                    picture          resolved
 *
 *   While open:  quiet (silence, window) ─ nobody is told until that ends
 *                told ─▶ raised when it gets worse ─▶ escalated when nobody acknowledges
 *                resolved is told to everyone who was told before
 *
 * A pass that could not see everything ends nothing: unknown is not gone.
 */

import { fits, type Matchable } from "../spec/alert-match.ts";
import type { WatchRoute, WatchRule } from "../spec/watch-definition.ts";
import { type BookAlert, messageOfAlert, type Observation, type Outgoing, type Phase } from "./alert.ts";
import { groupByCause, isWorse } from "./alert-group.ts";

export interface BookContext {
  /** The database's clock. */
  readonly now: Date;
  /** False: the pass could not see everything, so what it did not see may still be there. */
  readonly complete: boolean;
  /** Just started from rest: nothing new opens. */
  readonly inGrace: boolean;
  /** What was not seen for this long is over: a little more than the time between two passes. */
  readonly clearAfterMs: number;
  readonly rules: Readonly<Record<string, WatchRule>>;
  readonly routes: readonly WatchRoute[];
  /** Why nobody shall be told, or null. */
  quiet(alert: Matchable): string | null;
}

export interface BookStep {
  /** Alerts that are now different, or were seen again. */
  readonly alerts: readonly BookAlert[];
  /** Keys of pending ones that were gone before they alerted. */
  readonly forgotten: readonly string[];
  readonly messages: readonly Outgoing[];
}

/** @param book by key: every alert that is not resolved, and the last resolved one of a key that is seen again */
export function advanceBook(
  before: ReadonlyMap<string, BookAlert>,
  seen: readonly Observation[],
  context: BookContext,
): BookStep {
  const book = new Map([...before].map(([key, alert]) => [key, rewound(alert, context.now)]));
  const alerts: BookAlert[] = [];
  const forgotten: string[] = [];
  const messages: Outgoing[] = [];
  const judged = seen.flatMap((one) => applyRule(one, context.rules));
  const { observations, members } = groupByCause(judged);
  const present = new Set<string>();
  for (const one of observations) {
    if (present.has(one.key)) continue;
    present.add(one.key);
    alerts.push(tell(see(book.get(one.key), one, context, forMs(one, judged, context)), context, messages));
  }
  for (const alert of book.values()) {
    if (alert.resolved !== null || present.has(alert.key)) continue;
    if (members.has(alert.key) && alert.opened !== null) {
      // It was open before its cause was known: it goes on, without a word.
      alerts.push({ ...alert, lastSeen: context.now });
    } else if (!context.complete) {
      // Unknown is not gone.
    } else if (alert.opened === null) {
      forgotten.push(alert.key);
    } else if (before.get(alert.key) !== alert) {
      alerts.push(alert);
    } else if (context.now.getTime() - alert.lastSeen.getTime() >= context.clearAfterMs) {
      const over = { ...alert, resolved: context.now, quiet: null };
      alerts.push(over);
      for (const channel of over.channels) messages.push(outgoing(over, "resolved", channel, context));
    }
  }
  return { alerts, forgotten, messages };
}

/**
 * The database's clock went back: waits that began later than now begin anew,
 * or an alert would be held up by the whole step. An opened one keeps the time
 * by which its messages are known.
 */
function rewound(alert: BookAlert, now: Date): BookAlert {
  const pending = alert.opened === null && alert.firstSeen > now;
  if (alert.resolved !== null || !(pending || alert.lastSeen > now || (alert.told && alert.told > now)))
    return alert;
  return {
    ...alert,
    firstSeen: pending ? now : alert.firstSeen,
    lastSeen: alert.lastSeen > now ? now : alert.lastSeen,
    told: alert.told && alert.told > now ? now : alert.told,
  };
}

function applyRule(one: Observation, rules: BookContext["rules"]): Observation[] {
  const rule = rules[one.rule];
  if (!rule) return [one];
  if (!rule.enabled) return [];
  return [rule.severity === undefined ? one : { ...one, severity: rule.severity }];
}

/** How long it must hold; undefined: two passes. A group is as fast as its fastest member. */
function forMs(one: Observation, judged: readonly Observation[], context: BookContext): number | undefined {
  const own = context.rules[one.rule]?.forMs;
  if (one.cause === undefined) return own;
  const all = judged.filter(({ cause }) => cause === one.cause).map(({ rule }) => context.rules[rule]?.forMs);
  const known = all.filter((ms) => ms !== undefined);
  return known.length < all.length ? undefined : Math.min(...known);
}

function see(
  before: BookAlert | undefined,
  one: Observation,
  context: BookContext,
  holdMs: number | undefined,
): BookAlert {
  const { now } = context;
  const { noted = false, ...facts } = one;
  const open = before && before.resolved === null ? before : undefined;
  const alert: BookAlert = open
    ? { ...open, ...facts, watched: open.watched || !noted, lastSeen: now }
    : {
        ...facts,
        watched: !noted,
        episode: (before?.episode ?? 0) + 1,
        firstSeen: now,
        lastSeen: now,
        opened: null,
        resolved: null,
        acknowledged: null,
        escalated: null,
        told: null,
        toldSeverity: null,
        quiet: null,
        channels: [],
      };
  if (alert.opened !== null || context.inGrace) return alert;
  const heldMs = now.getTime() - alert.firstSeen.getTime();
  const ripe = noted || (holdMs === undefined ? open !== undefined && heldMs > 0 : heldMs >= holdMs);
  return ripe ? { ...alert, opened: now } : alert;
}

/** Adds what must be said now, and notes that it was. */
function tell(alert: BookAlert, context: BookContext, messages: Outgoing[]): BookAlert {
  if (alert.opened === null) return alert;
  const quiet = context.quiet(alert);
  if (quiet !== null) return { ...alert, quiet };
  const route = routeOf(alert, context.routes);
  let now: BookAlert = { ...alert, quiet: null };
  const say = (phase: Phase, channels: readonly string[]) => {
    now = { ...now, channels: [...new Set([...now.channels, ...channels])] };
    for (const channel of channels) messages.push(outgoing(now, phase, channel, context));
  };
  if (now.told === null || now.toldSeverity === null) {
    say("open", route.channels);
    return { ...now, told: context.now, toldSeverity: now.severity };
  }
  if (isWorse(now.severity, now.toldSeverity)) {
    say("raised", route.channels);
    now = { ...now, toldSeverity: now.severity };
  }
  const { escalation } = route;
  if (
    escalation &&
    now.acknowledged === null &&
    now.escalated === null &&
    context.now.getTime() - now.told!.getTime() >= escalation.afterMs
  ) {
    say("escalated", escalation.to);
    now = { ...now, escalated: context.now };
  }
  return now;
}

function outgoing(alert: BookAlert, phase: Phase, channel: string, context: BookContext): Outgoing {
  const { fallback } = routeOf(alert, context.routes);
  return {
    channel,
    fallback: fallback.filter((name) => name !== channel),
    message: messageOfAlert(alert, phase),
  };
}

/** The first route that fits; the last one fits all. */
export function routeOf(alert: Matchable, routes: readonly WatchRoute[]): WatchRoute {
  return routes.find((route) => fits(route.match, alert)) ?? routes.at(-1)!;
}
