/** Shard counts: the rules' own examples, limits that bind, skew, simulated run length. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseDuration } from "../../src/base/duration.ts";
import type { ShardQuestion } from "../../src/capacity/shards/candidate.ts";
import { candidateCounts, chooseShards } from "../../src/capacity/shards/choose.ts";
import { keyHash } from "../../src/capacity/shards/key-hash.ts";
import { KeyTally } from "../../src/capacity/shards/key-tally.ts";
import { simulateMakespan } from "../../src/capacity/shards/makespan.ts";
import { shardOf } from "../../src/spec/shard-of.ts";

interface Case {
  readonly name: string;
  readonly total: string;
  readonly target: string;
  readonly nodes: number;
  readonly shards: number;
  readonly next?: number;
  readonly binding: string;
}
const cases = JSON.parse(
  readFileSync(new URL("../cases/capacity/shards.json", import.meta.url), "utf8"),
) as Case[];

const question = (total: string, target: string, nodes: number): ShardQuestion => ({
  totalMs: parseDuration(total),
  targetMs: parseDuration(target),
  nodes,
  slotsPerNode: 1,
  overheadMs: 300,
  spread: 0.25,
  takeoverMs: 20_000,
  seed: 1,
});

test.each(cases)(
  "$name: $total at $target on $nodes nodes",
  ({ total, target, nodes, shards, next, binding }) => {
    const answer = chooseShards(question(total, target, nodes));
    expect(answer.chosen.shards).toBe(shards);
    expect(answer.binding.constraint).toBe(binding);
    if (next !== undefined) expect(answer.alternatives[0]?.shards).toBe(next);
  },
);

test("the example says why: 30 by the target, 32 by the nodes, and what 40 would be", () => {
  const { chosen, alternatives, binding } = chooseShards(question("90m", "3m", 8));
  expect(binding.why).toBe("⌈1h30m ÷ 3m⌉ = 30, rounded up to a multiple of 8 nodes = 32");
  expect(chosen.why).toBe("4 a node, 2m49s a shard");
  expect(alternatives[0]?.why).toBe("5 a node, 2m15s a shard");
});

test("whatever is asked, the answer is a multiple of the nodes and names its limits", () => {
  const minutes = fc.integer({ min: 1, max: 3_000 });
  const property = fc.property(
    minutes,
    fc.integer({ min: 1, max: 15 }),
    fc.integer({ min: 1, max: 60 }),
    (total, target, nodes) => {
      fc.pre(target <= total && Math.ceil(total / target) + nodes < 10_000);
      const asked = { ...question(`${total}m`, `${target}m`, nodes), overheadMs: 0 };
      const { chosen, alternatives, binding } = chooseShards(asked);
      expect(chosen.shards % nodes).toBe(0);
      expect(chosen.shards).toBeGreaterThanOrEqual(nodes);
      expect(chosen.shardMs).toBeLessThanOrEqual(15 * 60_000);
      expect(binding.limits).toHaveLength(4);
      for (const other of alternatives) expect(other.shardMs).toBeLessThanOrEqual(15 * 60_000);
    },
  );
  fc.assert(property, { numRuns: 60, seed: 7 });
});

describe("run length", () => {
  const even = {
    shardMs: new Array<number>(32).fill(168_750),
    nodes: 8,
    slotsPerNode: 1,
    overheadMs: 0,
    spread: 0,
    takeoverMs: 20_000,
    seed: 3,
    trials: 50,
  };

  test("without spread it is the number of waves times the shard", () => {
    expect(simulateMakespan(even).p95Ms).toBeCloseTo(4 * 168_750, 3);
  });

  test("33 shards on 8 nodes need a fifth wave", () => {
    const work = { ...even, shardMs: new Array<number>(33).fill(163_636) };
    expect(simulateMakespan(work).p95Ms).toBeCloseTo(5 * 163_636, 3);
  });

  test("a lost node costs at least its unfinished shard and never ends the run early", () => {
    const { p95Ms, oneNodeLostP95Ms } = simulateMakespan({ ...even, spread: 0.3 });
    expect(oneNodeLostP95Ms).toBeGreaterThan(p95Ms);
  });

  test("one node has nobody to take over", () => {
    expect(simulateMakespan({ ...even, nodes: 1 })).not.toHaveProperty("oneNodeLostP95Ms");
  });

  test("the same seed gives the same numbers, another seed others", () => {
    const random = { ...even, spread: 0.3 };
    expect(simulateMakespan(random)).toEqual(simulateMakespan(random));
    expect(simulateMakespan({ ...random, seed: 4 })).not.toEqual(simulateMakespan(random));
  });
});

describe("keys", () => {
  test("the fast hash shares keys out as the runtime does", () => {
    for (const key of ["", "s88b89554", "Zürich", "商户", "a".repeat(500)]) {
      expect(keyHash(key) % 40).toBe(shardOf(key, 40));
      expect(keyHash(key)).toBe(createHash("md5").update(key).digest().readUInt32BE(0));
    }
  });

  test("a key above a tenth is split off, into as many shards as the target asks for", () => {
    const asked = question("90m", "3m", 8);
    const tally = new KeyTally(candidateCounts(asked), keyHash);
    tally.add("whale", 3_000);
    for (let i = 0; i < 7_000; i++) tally.add(`small-${i}`, 1);
    const { skew } = chooseShards(asked, tally).chosen;
    expect(skew?.split).toEqual([
      expect.objectContaining({ key: "whale", parts: 9, why: "30.0 % of the work, above one tenth" }),
    ]);
    expect(skew!.imbalanceBefore).toBeGreaterThan(8);
    expect(skew!.imbalanceAfter).toBeLessThan(1.6);
    expect(skew!.shardMs.reduce((sum, ms) => sum + ms, 0)).toBeCloseTo(asked.totalMs, 0);
  });

  test("a key below a tenth that alone outlasts a shard's limit is split off, too", () => {
    const asked = question("5h", "3m", 8);
    const tally = new KeyTally(candidateCounts(asked), keyHash);
    tally.add("heavy", 80);
    for (let i = 0; i < 920; i++) tally.add(`k${i}`, 1);
    const { split } = chooseShards(asked, tally).chosen.skew!;
    expect(split.map(({ key, why }) => [key, why])).toEqual([
      ["heavy", "8.0 % of the work, alone longer than a shard may run"],
    ]);
  });

  test("heavy keys are found among two million others, in bounded memory", () => {
    const tally = new KeyTally([32], keyHash);
    const before = process.memoryUsage().heapUsed;
    for (let i = 0; i < 2_000_000; i++) {
      tally.add(`key-${i}`, 1);
      if (i % 10 === 0) tally.add("whale", 2);
      if (i % 100 === 0) tally.add("dolphin", 3);
    }
    const found = tally.heavyKeys(0.005);
    expect(found[0]).toMatchObject({ key: "whale", exact: false });
    expect(tally.uncertainKeys(0.005)).toContain("dolphin");
    for (const key of tally.uncertainKeys(0.005))
      tally.settle(key, key === "whale" ? 400_000 : key === "dolphin" ? 60_000 : 1);
    expect(tally.heavyKeys(0.005)).toEqual([
      { key: "whale", weight: 400_000, exact: true },
      { key: "dolphin", weight: 60_000, exact: true },
    ]);
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(200 * 2 ** 20);
  });

  test("an unevenness without a heavy key is told: few keys leave shards empty", () => {
    const asked = question("90m", "3m", 8);
    const tally = new KeyTally(candidateCounts(asked), keyHash);
    for (let i = 0; i < 20; i++) tally.add(`k${i}`, 1);
    const { notes } = chooseShards(asked, tally);
    expect(notes.join("\n")).toMatch(/of 32 shards get no work: there are too few keys/);
  });
});
