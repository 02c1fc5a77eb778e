/** A history sorted by fire and shard, built once and read by every checker. */
import {
  type AttemptRecord,
  type Effect,
  type ExecutionRecord,
  fireKey,
  type History,
  type Obligation,
  type Refusal,
  type Sighting,
} from "../history.ts";

/** Everything known about one shard; attempts in token order, the witness's lists in its order. */
export interface ShardEntry {
  readonly shardNo: number;
  readonly attempts: AttemptRecord[];
  readonly effects: Effect[];
  readonly refusals: Refusal[];
  readonly sightings: Sighting[];
}

/** Everything known about one fire. */
export interface FireEntry {
  readonly job: string;
  readonly fireTime: string;
  obligation: Obligation | undefined;
  readonly executions: ExecutionRecord[];
  readonly shards: Map<number, ShardEntry>;
}

export interface Ledger {
  readonly history: History;
  readonly fires: ReadonlyMap<string, FireEntry>;
  /** True if a missing execution row means that there is none. */
  readonly executionsKnown: boolean;
}

/** O(n log n) in the number of rows of the history. */
export function buildLedger(history: History): Ledger {
  const fires = new Map<string, FireEntry>();
  const fireOf = (of: { job: string; fireTime: string }): FireEntry => {
    const key = fireKey(of);
    let entry = fires.get(key);
    if (!entry) {
      entry = {
        job: of.job,
        fireTime: of.fireTime,
        obligation: undefined,
        executions: [],
        shards: new Map(),
      };
      fires.set(key, entry);
    }
    return entry;
  };
  const shardOf = (of: { job: string; fireTime: string; shardNo: number }): ShardEntry => {
    const { shards } = fireOf(of);
    let entry = shards.get(of.shardNo);
    if (!entry) {
      entry = { shardNo: of.shardNo, attempts: [], effects: [], refusals: [], sightings: [] };
      shards.set(of.shardNo, entry);
    }
    return entry;
  };

  for (const item of history.obligations) fireOf(item).obligation = item;
  for (const item of history.executions ?? []) fireOf(item).executions.push(item);
  for (const item of history.attempts) shardOf(item).attempts.push(item);
  for (const item of history.effects) shardOf(item).effects.push(item);
  for (const item of history.refusals) shardOf(item).refusals.push(item);
  for (const item of history.sightings) shardOf(item).sightings.push(item);
  for (const { shards } of fires.values()) {
    for (const entry of shards.values()) {
      entry.attempts.sort((a, b) => a.fenceToken - b.fenceToken || a.attempt - b.attempt);
      entry.effects.sort((a, b) => a.seq - b.seq);
      entry.refusals.sort((a, b) => a.seq - b.seq);
      entry.sightings.sort((a, b) => a.seq - b.seq);
    }
  }
  return { history, fires, executionsKnown: history.executions !== undefined };
}

/** True if the final read came late enough after the fire, and the cluster was at rest, to speak of loss. */
export function isClosed(ledger: Ledger, fireTime: string): boolean {
  const { readAt, settled, limits } = ledger.history;
  return settled && Date.parse(fireTime) + limits.settleMs <= Date.parse(readAt);
}

/** The attempt that the records call a success, if there is one; the first, if there are more. */
export function successOf(entry: ShardEntry): AttemptRecord | undefined {
  return entry.attempts.find((attempt) => attempt.status === "success");
}
