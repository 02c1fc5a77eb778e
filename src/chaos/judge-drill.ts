/**
 * Judges the history of a drill. The checker alone also judges histories without
 * any fault; of a drill these say nothing.
 */
import { judge, type Verdict } from "./checker.ts";
import { contradictions } from "./contradictions.ts";
import type { History } from "./history.ts";

/** More than these lets pass what nobody could call a clean run. A store's clock may be moved by up to 12 h. */
const mostLenient = {
  earlyMs: 13 * 3_600_000,
  lateMs: 300_000,
  settleMs: 3_600_000,
  overlapMs: 10_000,
  killGraceMs: 60_000,
} as const;

/** A probe that may start later than this, or not at all, owes next to nothing. */
const mostMisfireMs = 300_000;

/**
 * @param value the same history as it was read, before defaults
 * @returns the checker's verdict, and unknown in place of a pass where the history is not whole
 */
export function judgeDrill(history: History, value: unknown): Verdict {
  const verdict = judge(history);
  const unknown = [...verdict.unknown, ...incomplete(history, value), ...contradictions(history)];
  const outcome = verdict.outcome === "pass" && unknown.length > 0 ? "unknown" : verdict.outcome;
  return { ...verdict, outcome, unknown };
}

function* incomplete(history: History, value: unknown): Generator<string> {
  const written = value as Readonly<Record<string, unknown>>;
  yield* withoutProof(history);
  for (const { kind, target, until } of history.faults)
    if (until === null) yield `${kind} of ${target} was never seen to be taken back`;
  if (written.requirements === undefined || history.requirements.obligationsInFault === 0)
    yield "it does not say what must have occurred (requirements)";
  else if (history.requirements.faultKinds.length === 0)
    yield "it does not say which kind of fault must have occurred (requirements.faultKinds)";
  if (history.executions === undefined) yield "it holds no executions";
  else if (history.obligations.length > 0 && history.executions.length === 0)
    yield "it holds no executions, and fires came due";
  if (history.limits.lateMs === null) yield "it does not say how late a start may be (limits.lateMs)";
  for (const [name, most] of Object.entries(mostLenient)) {
    const limit = history.limits[name as keyof typeof mostLenient];
    if (limit !== null && limit > most)
      yield `limits.${name} is ${limit}; with more than ${most} next to nothing is found`;
  }
  const lax = history.obligations.find(
    ({ misfire, recordsOnly }) =>
      !recordsOnly && misfire && Math.max(misfire.graceMs, misfire.windowMs ?? 0) > mostMisfireMs,
  );
  if (lax) yield `${lax.job} ${lax.fireTime} may start more than ${mostMisfireMs} ms late (misfire)`;
}

/** A fault is in a history when its target said so itself; proven is what all observers of the drill saw. */
function* withoutProof({ faults }: History): Generator<string> {
  if (faults.length === 0) yield "it holds no fault";
  if (faults.some(({ proven }) => proven)) return;
  for (const { kind, target } of faults)
    yield `${kind} of ${target} was reported by ${target} itself; what the drill asks to see besides, from a second place, was not all seen, so it is not proven`;
}
