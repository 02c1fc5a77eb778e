/** The planning rules' own numbers, as anyone can work them out on paper. */
import { expect, test } from "vitest";
import { estimateIops } from "../../src/capacity/iops/estimate.ts";
import { media } from "../../src/capacity/iops/media.ts";
import { coresForJobs, estimateConcurrency, shardsPerCore } from "../../src/capacity/machine/concurrency.ts";
import { estimateMemory } from "../../src/capacity/machine/memory.ts";
import { schedulerSize } from "../../src/capacity/machine/scheduler-size.ts";
import {
  ceilingMs,
  fewestPerNode,
  longestMs,
  mostPerNode,
  shortestMs,
} from "../../src/capacity/shards/limits.ts";
import { heavyShare } from "../../src/capacity/shards/skew.ts";
import { sourceIds, sourceOf } from "../../src/capacity/source.ts";
import { estimateStorage } from "../../src/capacity/storage/estimate.ts";
import { storageDefaults } from "../../src/capacity/storage/question.ts";
import { ruleEstimate } from "../../src/capacity/storage/rule-estimate.ts";
import { read } from "../architecture/repository.ts";

const gibibyte = 2 ** 30;

test("2,000 executions × 100 shards × 1 KB are 200 MB a day, about 70 GB a year, 2 to 3 × with index and log", () => {
  const rule = ruleEstimate(2_000, 100, 1_000);
  expect(rule.perDay.value).toBe(200e6);
  expect(rule.perYear.value).toBe(73e9);
  expect(rule.withIndexAndLogLow.value).toBe(146e9);
  expect(rule.withIndexAndLogHigh.value).toBe(219e9);
  expect([rule.textLogsLow.value, rule.textLogsHigh.value]).toEqual([1e9, 2e9]);
});

test("the model's disk for that case lies in or just below the 200 to 300 GB that are reserved on paper, and says why", () => {
  const { figures, differences, rule, binding } = estimateStorage({
    ...storageDefaults,
    runsPerDay: 2_000,
    shards: 100,
    rowBytes: 1_000,
  });
  expect(figures.needed!.value).toBeGreaterThan(140e9);
  expect(figures.needed!.value).toBeLessThan(300e9);
  // Table and index are nearer to 1.2 than to 2 × the raw bytes.
  expect(figures.perDay!.value / rule.perDay.value).toBeGreaterThan(1.1);
  expect(figures.perDay!.value / rule.perDay.value).toBeLessThan(1.4);
  expect(differences.join("\n")).toMatch(/not 2 to 3 ×.*recycled.*13 months/s);
  expect(binding.constraint).toBe("records");
});

test("small transactions are shards × executions; 402,000 commits a day, 268 a second when 40 % fall into 10 minutes", () => {
  const { figures } = estimateIops({
    runsPerDay: 2_000,
    shards: 100,
    batch: 8,
    busiestShare: 0.4,
    busiestMs: 600_000,
    sessions: 8,
    walPerShard: 1_400,
    bytesPerShard: 1_200,
    medium: media.hdd!,
    layout: "single",
    disks: 1,
    isMeasured: false,
  });
  expect(figures.smallTransactions!.value).toBe(200_000);
  expect(figures.commitsPerDay!.value).toBe(402_000);
  expect(figures.meanCommits!.value).toBeCloseTo(4.65, 2);
  expect(figures.peakCommits!.value).toBe(268);
  expect(figures.commitsPerFlush!.value).toBe(3.7);
  // A plain hard disk turns 120 times a second: enough when eight executors share flushes, not for one alone.
  expect(figures.flushHeadroom!.value).toBeGreaterThan(1);
  expect(figures.serialHeadroom!.value).toBeLessThan(1);
});

test("memory is 1.5 × the peak, once, and the peak is heap + off-heap + page cache + others", () => {
  const { figures } = estimateMemory({
    parts: {
      heapBytes: 8 * gibibyte,
      offHeapBytes: 2 * gibibyte,
      pageCacheBytes: gibibyte,
      othersBytes: gibibyte,
    },
  });
  expect(figures.peak!.value).toBe(12 * gibibyte);
  expect(figures.reserve!.value).toBe(18 * gibibyte);
  expect(estimateMemory({ parts: { peakBytes: 6 * gibibyte } }).figures.reserve!.value).toBe(9 * gibibyte);
});

test("1 to 1.5 shards a core, by what they are short of", () => {
  expect(shardsPerCore).toEqual({ cpu: 1, memory: 1.25, mixed: 1.25, io: 1.5 });
  const need = { cores: 1, peakBytes: 1, iops: 0, networkBytes: 0 };
  const slots = (name: "cpu" | "io") =>
    estimateConcurrency({ cores: 16, memoryBytes: 64 * gibibyte, numaNodes: 1 }, { ...need, class: name })
      .slots;
  expect(coresForJobs(16)).toBe(14);
  expect([slots("cpu"), slots("io")]).toEqual([14, 21]);
});

test("2 schedulers of 2 to 4 cores and 8 to 16 GB for hundreds of jobs and thousands of fires", () => {
  const small = schedulerSize(200, 2_000);
  expect([small.machines.value, small.cores.value, small.memoryBytes.value / gibibyte]).toEqual([2, 2, 8]);
  const large = schedulerSize(900, 9_000);
  expect([large.machines.value, large.cores.value, large.memoryBytes.value / gibibyte]).toEqual([2, 4, 16]);
});

test("3 to 5 shards a node, 2 to 10 minutes, never above 15, a tenth is heavy", () => {
  expect([fewestPerNode, mostPerNode]).toEqual([3, 5]);
  expect([shortestMs, longestMs, ceilingMs].map((ms) => ms / 60_000)).toEqual([2, 10, 15]);
  expect(heavyShare).toBe(0.1);
});

test("records are kept at least 12 months, and the note says so when they are not", () => {
  const question = { ...storageDefaults, runsPerDay: 100, shards: 10, rowBytes: 200 };
  expect(storageDefaults.retentionMonths).toBe(13);
  expect(estimateStorage(question).notes.join("\n")).not.toMatch(/year-end/);
  expect(estimateStorage({ ...question, retentionMonths: 6 }).notes.join("\n")).toMatch(
    /12 months.*year-end/,
  );
});

test("every source is explained in docs/capacity.md", () => {
  const page = read("docs/capacity.md");
  const missing = sourceIds.filter((id) => !page.includes(`\`${id}\``));
  expect(missing).toEqual([]);
  for (const id of sourceIds) expect(sourceOf(id).text.length).toBeGreaterThan(10);
});
