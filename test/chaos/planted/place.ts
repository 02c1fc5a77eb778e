/** Places in a correct history where a fault can be planted, and the small changes that plant it. */
import type { FindingClass } from "../../../src/chaos/checkers/finding.ts";
import {
  type AttemptRecord,
  type Effect,
  fireKey,
  type History,
  type Obligation,
} from "../../../src/chaos/history.ts";
import type { SeededRandom } from "../seeded-random.ts";

export interface PlantedFault {
  readonly class: FindingClass;
  readonly way: string;
  /** @returns false if this history offers no place for it. */
  plant(history: History, random: SeededRandom): boolean;
}

export type Key = { job: string; fireTime: string; shardNo?: number };
export const same = (a: Key, b: Key) =>
  a.job === b.job && a.fireTime === b.fireTime && (b.shardNo === undefined || a.shardNo === b.shardNo);
export const shifted = (iso: string, ms: number) => new Date(Date.parse(iso) + ms).toISOString();

export function drop(
  history: History,
  key: Key,
  lists = ["attempts", "effects", "refusals", "sightings"] as const,
): void {
  for (const list of lists) (history[list] as Key[]) = history[list].filter((row) => !same(row, key));
}

/** Fires that ran to success. */
export function ran(
  history: History,
  accept: (obligation: Obligation) => boolean = () => true,
): Obligation[] {
  const done = new Set(history.effects.map(fireKey));
  return history.obligations.filter(
    (item) => item.allowed !== "none" && done.has(fireKey(item)) && accept(item),
  );
}

export function pickOr<T>(random: SeededRandom, items: readonly T[]): T | undefined {
  return items.length === 0 ? undefined : random.pick(items);
}

export const nextSeq = (history: History) =>
  1 +
  [history.effects, history.refusals, history.sightings]
    .flat()
    .reduce((max, row) => Math.max(max, row.seq), 0);
export const nextToken = (history: History) =>
  1 + history.attempts.reduce((max, row) => Math.max(max, row.fenceToken), 0);

export interface Place {
  obligation: Obligation;
  success: AttemptRecord;
  effect: Effect;
  key: Required<Key>;
}

/** A random shard that succeeded, with the newest effect it has. */
function place(
  history: History,
  random: SeededRandom,
  accept: (o: Obligation) => boolean = () => true,
): Place | undefined {
  const obligation = pickOr(random, ran(history, accept));
  if (!obligation) return undefined;
  const key = {
    job: obligation.job,
    fireTime: obligation.fireTime,
    shardNo: random.between(0, obligation.shardCount - 1),
  };
  const success = history.attempts.find((row) => same(row, key) && row.status === "success")!;
  const effect = history.effects.filter((row) => same(row, key)).at(-1)!;
  return { obligation, success, effect, key };
}

/** Adds an attempt after the last one, that is recorded with `status`. */
export function addAttempt(
  history: History,
  { key, success }: Place,
  status: AttemptRecord["status"],
): AttemptRecord {
  const last = Math.max(...history.attempts.filter((row) => same(row, key)).map((row) => row.attempt));
  const row = { ...success, attempt: last + 1, fenceToken: nextToken(history), status };
  history.attempts.push(row);
  return row;
}

export function addEffect(history: History, claim: AttemptRecord, payload: string): void {
  const { job, fireTime, shardNo, attempt, fenceToken } = claim;
  history.effects.push({ job, fireTime, shardNo, attempt, fenceToken, payload, seq: nextSeq(history) });
}

export function executionOf(history: History, key: Key) {
  return history.executions!.find((row) => same(row, { job: key.job, fireTime: key.fireTime }));
}

export const exactly = (o: Obligation) => o.allowed === "exactly-one";

export function withPlace(
  accept: (o: Obligation) => boolean,
  change: (history: History, at: Place, random: SeededRandom) => unknown,
): PlantedFault["plant"] {
  return (history, random) => {
    const at = place(history, random, accept);
    return at !== undefined && change(history, at, random) !== false;
  };
}
