/** How many shards, and where the heavy keys are. */
import { expect, test } from "vitest";
import type { Shards } from "../../src/spec/job-definition.ts";
import { heavyKeys, ordinaryShardCount, shardCount } from "../../src/spec/shard-count.ts";

const cases: [Shards, all: number, ordinary: number, heavy: string[]][] = [
  [{ by: "none" }, 1, 1, []],
  [{ by: "hash", count: 32, key: "id", heavy: [] }, 32, 32, []],
  [{ by: "hash", count: 32, key: "id", heavy: ["x", "y"] }, 34, 32, ["x", "y"]],
  [{ by: "keys", count: 2, keys: ["a", "b", "c"], heavy: ["c"] }, 3, 2, ["c"]],
  [{ by: "frozen", count: 7, freeze: ["list"] }, 7, 7, []],
];

test.each(cases)("%j", (shards, all, ordinary, heavy) => {
  expect(shardCount({ shards })).toBe(all);
  expect(ordinaryShardCount({ shards })).toBe(ordinary);
  expect(heavyKeys({ shards })).toEqual(heavy);
});
