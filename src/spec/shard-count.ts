/** How many shards an execution has, and which of them belong to heavy keys. */
import type { JobDefinition } from "./job-definition.ts";

/** More would make one execution a burden for the record store. */
export const maxShards = 10_000;

type Sharded = Pick<JobDefinition, "shards">;

/** All shards of one execution: ordinary ones first, then one for every heavy key. */
export function shardCount(job: Sharded): number {
  return ordinaryShardCount(job) + heavyKeys(job).length;
}

/** The shards that ordinary keys are spread over: numbers 0 to this − 1. */
export function ordinaryShardCount({ shards }: Sharded): number {
  return shards.by === "none" ? 1 : shards.count;
}

/** Key n of this list has shard number `ordinaryShardCount + n` for itself. */
export function heavyKeys({ shards }: Sharded): readonly string[] {
  return shards.by === "hash" || shards.by === "keys" ? shards.heavy : [];
}
