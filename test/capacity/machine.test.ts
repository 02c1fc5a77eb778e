/** Memory, concurrency and topology: what binds, and what is unknown. */
import { describe, expect, test } from "vitest";
import { estimateIops } from "../../src/capacity/iops/estimate.ts";
import { commitsPerFlush } from "../../src/capacity/iops/group-commit.ts";
import { mediumNamed, suspicion } from "../../src/capacity/iops/media.ts";
import { estimateConcurrency, type Machine, type ShardNeed } from "../../src/capacity/machine/concurrency.ts";
import { estimateMemory } from "../../src/capacity/machine/memory.ts";
import { judgeTopology } from "../../src/capacity/machine/topology.ts";
import { needOf } from "../../src/capacity/machine/workload-need.ts";
import { loadText } from "../../src/spec/load.ts";
import type { Workload } from "../../src/spec/workload-schema.ts";

const gibibyte = 2 ** 30;
const machine: Machine = {
  cores: 32,
  memoryBytes: 256 * gibibyte,
  numaNodes: 2,
  iops: 50_000,
  networkBytes: 1.25e9,
};
const need: ShardNeed = { class: "cpu", cores: 1, peakBytes: 2 * gibibyte, iops: 0, networkBytes: 0 };

describe("which limit binds", () => {
  const cases: [
    name: string,
    machine: Partial<Machine>,
    need: Partial<ShardNeed>,
    binds: string,
    slots: number,
  ][] = [
    ["cores of a cpu-bound shard", {}, {}, "cores", 28],
    ["half as many again for io-bound work", {}, { class: "io" }, "cores", 42],
    ["memory for large heaps", {}, { peakBytes: 20 * gibibyte }, "memory", 8],
    ["disk operations", {}, { class: "io", iops: 5_000 }, "disk", 10],
    ["network", {}, { class: "io", networkBytes: 250e6 }, "network", 5],
    ["half a core a shard", {}, { cores: 0.5 }, "cores", 56],
    ["half a core and three gibibytes a shard", {}, { cores: 0.5, peakBytes: 3 * gibibyte }, "memory", 54],
    [
      "a heap that spans NUMA nodes fits none of them",
      { memoryBytes: 64 * gibibyte },
      { peakBytes: 21 * gibibyte },
      "memory",
      0,
    ],
    [
      "the same heap on one node",
      { memoryBytes: 64 * gibibyte, numaNodes: 1 },
      { peakBytes: 21 * gibibyte },
      "memory",
      1,
    ],
  ];
  test.each(cases)("%s", (_, machinePart, needPart, binds, slots) => {
    const answer = estimateConcurrency({ ...machine, ...machinePart }, { ...need, ...needPart });
    expect([answer.binding.constraint, answer.slots]).toEqual([binds, slots]);
    expect(answer.figures.slots!.formula).toContain(`${binds} ${slots}`);
  });

  test("a mixed job is sized by what runs out first, and what idles is named", () => {
    const { slots, binding, notes } = estimateConcurrency(machine, {
      class: "mixed",
      cores: 1,
      peakBytes: 2 * gibibyte,
      iops: 4_000,
      networkBytes: 1e6,
    });
    expect([binding.constraint, slots]).toEqual(["disk", 12]);
    expect(notes.join()).toMatch(/cores and memory and network would carry twice as many/);
  });

  test("what was not looked at is said, not passed over", () => {
    const { iops: _i, networkBytes: _n, ...bare } = machine;
    const { notes } = estimateConcurrency(bare, { ...need, iops: 100, networkBytes: 1e6 });
    expect(notes.filter((note) => note.includes("unknown"))).toHaveLength(2);
  });
});

test("memory: parts add up, a missing part is guessed aloud, a NUMA node that is too small is told", () => {
  const guessed = estimateMemory({ parts: { heapBytes: 8 * gibibyte } });
  expect(guessed.figures.peak!.value).toBe(10 * gibibyte);
  expect(guessed.figures.peak!.formula).toMatch(/0\.25 × heap, no better figure/);
  const tight = estimateMemory({ parts: { peakBytes: 30 * gibibyte }, nodeBytes: 32 * gibibyte });
  expect(tight.figures.perNode!.value).toBe(0);
  expect(tight.notes.join()).toMatch(/Not one fits into a NUMA node/);
});

describe("disk", () => {
  test("commits that share a flush grow with the sessions, from 1.0 to 15.5", () => {
    expect([1, 2, 4, 8, 16, 32, 64, 1_000].map(commitsPerFlush)).toEqual([
      1, 1.1, 2, 3.7, 6.2, 10.3, 15.5, 15.5,
    ]);
    expect(commitsPerFlush(6)).toBeCloseTo(2.85, 6);
  });

  const question = {
    runsPerDay: 20_000,
    shards: 100,
    batch: 1,
    busiestShare: 0.4,
    busiestMs: 600_000,
    sessions: 8,
    walPerShard: 1_400,
    bytesPerShard: 1_200,
    disks: 4,
    isMeasured: false,
  } as const;
  test("a hard disk cannot keep up, a protected cache can; the note says what to expect", () => {
    const slow = estimateIops({ ...question, medium: mediumNamed("hdd"), layout: "raid10" });
    expect(["flushes", "writes"]).toContain(slow.binding.constraint);
    expect(slow.binding.why).toMatch(/short by a factor of/);
    expect(slow.notes.join()).toMatch(/claims and completions will queue/);
    const fast = estimateIops({ ...question, medium: mediumNamed("protected-ssd"), layout: "raid10" });
    expect(fast.figures.flushHeadroom!.value).toBeGreaterThan(3);
  });

  test("a write costs 1, 2, 4 or 6 operations by layout", () => {
    const writes = (layout: "raid0" | "raid10" | "raid5" | "raid6") =>
      estimateIops({ ...question, medium: mediumNamed("protected-ssd"), layout }).figures.writes!.value;
    const ratios = (["raid10", "raid5", "raid6"] as const).map((layout) => writes(layout) / writes("raid0"));
    expect(ratios.map(Math.round)).toEqual([2, 4, 6]);
  });

  test("a turning disk that flushes faster than it turns lies; behind a protected cache it does not", () => {
    expect(suspicion(true, 5_000, false)).toMatch(/confirms what it has not written/);
    expect(suspicion(true, 110, false)).toBeUndefined();
    expect(suspicion(true, 5_000, true)).toBeUndefined();
    expect(suspicion(false, 5_000, false)).toBeUndefined();
  });
});

describe("topology", () => {
  const workload = (job: string, more = "executorChangesPerMonth: 0") => {
    const text = `apiVersion: escapement/v1
kind: Workload
metadata: { name: w }
spec:
  executorNodes: 2
  jobs:
    - { name: j, class: cpu, runsPerDay: 10, shards: 4, totalTime: 10m, memory: { peak: 1GiB }, ${job} }
  ${more}
`;
    const { documents, problems } = loadText(text, "w.yaml");
    expect(problems).toEqual([]);
    return (documents[0]!.value as { spec: Workload }).spec;
  };
  const calm = "networkPerShard: 1MB, canRunAway: false";
  const holds = (spec: Workload, on: Machine | null = machine) =>
    Object.fromEntries(judgeTopology(spec, on ?? undefined).conditions.map((one) => [one.name, one.holds]));

  test("none of the four holds: they may share", () => {
    expect(judgeTopology(workload(calm), machine).verdict).toBe("may-share");
  });
  test("each condition alone keeps them apart", () => {
    expect(holds(workload(`${calm}, jobs: 4000`))).toMatchObject({
      "fills the machine": "yes",
      "may run away": "no",
    });
    expect(holds(workload("networkPerShard: 1MB, canRunAway: true"))).toMatchObject({
      "may run away": "yes",
      "scales often": "no",
    });
    expect(holds(workload(calm, "executorChangesPerMonth: 1"))).toMatchObject({ "scales often": "yes" });
    expect(holds(workload("networkPerShard: 900MB, canRunAway: false, jobs: 50"))).toMatchObject({
      "crowds the network": "yes",
    });
  });
  test("what is not known is unknown, and unknown keeps them apart, too", () => {
    expect(holds(workload("canRunAway: false"))).toMatchObject({ "crowds the network": "unknown" });
    expect(holds(workload(calm, ""))).toMatchObject({ "scales often": "unknown" });
    expect(holds(workload(calm), null)).toMatchObject({
      "fills the machine": "unknown",
      "crowds the network": "unknown",
    });
    expect(judgeTopology(workload("canRunAway: false"), machine).verdict).toBe("separate-until-known");
  });
  test("every condition carries its reason, formula and source", () => {
    for (const one of judgeTopology(workload(calm), machine).conditions) {
      expect(one.reason).not.toBe("");
      expect(one.formula).not.toBe("");
      expect(one.source.id).toBe("rule.split-roles");
    }
  });
  test("a line of a workload becomes what one shard needs", () => {
    expect(needOf(workload(calm).jobs[0]!)).toEqual({
      class: "cpu",
      cores: 1,
      peakBytes: gibibyte,
      iops: 0,
      networkBytes: 1e6,
    });
  });
});
