/** How many shards of a class a machine runs at once, and which resource says so. */
import { EscapementError } from "../../base/errors.ts";
import { type Answer, type Figure, figure } from "../figure.ts";
import { peakMargin } from "./memory.ts";

export type WorkClass = "cpu" | "memory" | "io" | "mixed";

/** Shards a core, by what they are short of. */
export const shardsPerCore: Readonly<Record<WorkClass, number>> = {
  cpu: 1,
  memory: 1.25,
  mixed: 1.25,
  io: 1.5,
};

/** A machine, as `lscpu` and the data sheet describe it. */
export interface Machine {
  /** Physical cores, all sockets. */
  readonly cores: number;
  readonly memoryBytes: number;
  readonly numaNodes: number;
  /** Disk operations a second left for jobs; undefined: not looked at. */
  readonly iops?: number | undefined;
  /** Network bytes a second; undefined: not looked at. */
  readonly networkBytes?: number | undefined;
}

/** What one running shard takes. */
export interface ShardNeed {
  readonly class: WorkClass;
  readonly cores: number;
  readonly peakBytes: number;
  readonly iops: number;
  readonly networkBytes: number;
}

export interface ConcurrencyAnswer extends Answer {
  /** Shards at once on the whole machine. */
  readonly slots: number;
  readonly usedCores: number;
  readonly usedMemoryBytes: number;
}

const gibibyte = 2 ** 30;
/** One core in so many is left to the operating system. */
const coresPerReserved = 8;

export function coresForJobs(cores: number): number {
  return Math.max(0, cores - Math.ceil(cores / coresPerReserved));
}

export function memoryForJobs(memoryBytes: number): number {
  return memoryBytes - Math.max(2 * gibibyte, memoryBytes * 0.05);
}

/** @throws E_BAD_VALUE for a machine or a need that is none */
export function estimateConcurrency(machine: Machine, need: ShardNeed): ConcurrencyAnswer {
  checkMachine(machine, need);
  const { cores, memoryBytes, numaNodes } = machine;
  const factor = shardsPerCore[need.class];
  const usableCores = coresForJobs(cores);
  const usableMemory = memoryForJobs(memoryBytes);
  const reserve = need.peakBytes * peakMargin;
  const nodeMemory = usableMemory / numaNodes;
  const byMemory = Math.floor(nodeMemory / reserve) * numaNodes;
  const limits: {
    name: string;
    slots: number;
    formula: string;
    source: "rule.cores" | "rule.heap-margin" | "arithmetic";
  }[] = [
    {
      name: "cores",
      slots: Math.floor((usableCores * factor) / need.cores),
      formula: `⌊${usableCores} cores × ${factor} for ${need.class} ÷ ${need.cores} a shard⌋`,
      source: "rule.cores",
    },
    {
      name: "memory",
      slots: byMemory,
      formula:
        numaNodes > 1
          ? `⌊${gib(nodeMemory)} in a NUMA node ÷ (${gib(need.peakBytes)} × ${peakMargin})⌋ × ${numaNodes} nodes`
          : `⌊${gib(usableMemory)} ÷ (${gib(need.peakBytes)} × ${peakMargin})⌋`,
      source: "rule.heap-margin",
    },
  ];
  if (machine.iops !== undefined && need.iops > 0) {
    limits.push({
      name: "disk",
      slots: Math.floor(machine.iops / need.iops),
      formula: `⌊${machine.iops} operations a second ÷ ${need.iops} a shard⌋`,
      source: "arithmetic",
    });
  }
  if (machine.networkBytes !== undefined && need.networkBytes > 0) {
    limits.push({
      name: "network",
      slots: Math.floor(machine.networkBytes / need.networkBytes),
      formula: `⌊${mb(machine.networkBytes)} ÷ ${mb(need.networkBytes)} a shard⌋`,
      source: "arithmetic",
    });
  }
  const binding = limits.reduce((least, one) => (one.slots < least.slots ? one : least));
  const slots = binding.slots;
  const figures: Record<string, Figure> = {
    slots: figure(
      "shards at once",
      slots,
      "count",
      `the least of ${limits.map(({ name, slots: allowed }) => `${name} ${allowed}`).join(", ")}`,
      { cores, memoryBytes, numaNodes },
      "rule.shortest-plank",
    ),
    coresForJobs: figure(
      "cores for jobs",
      usableCores,
      "count",
      `${cores} − ⌈${cores} ÷ ${coresPerReserved}⌉ for the system`,
      { cores },
      "assumption.os-reserve",
    ),
    memoryForJobs: figure(
      "memory for jobs",
      usableMemory,
      "memory",
      "memory − the larger of 2 GiB and 5 %",
      { memoryBytes },
      "assumption.os-reserve",
    ),
    perNumaNode: figure(
      "shards a NUMA node",
      slots / numaNodes,
      "ratio",
      `${slots} ÷ ${numaNodes}`,
      { slots, numaNodes },
      "arithmetic",
    ),
    memoryUsed: figure(
      "memory set aside",
      slots * reserve,
      "memory",
      `${slots} × peak × ${peakMargin}`,
      { slots, peakBytes: need.peakBytes },
      "rule.heap-margin",
    ),
  };
  for (const { name, slots: allowed, formula, source } of limits) {
    figures[`by-${name}`] = figure(
      `allowed by ${name}`,
      allowed,
      "count",
      formula,
      { slots: allowed },
      source,
    );
  }
  return {
    slots,
    usedCores: slots * need.cores,
    usedMemoryBytes: slots * reserve,
    figures,
    binding: {
      constraint: binding.name,
      why: slots === 0 ? `not one shard fits: ${binding.formula}` : binding.formula,
      limits: limits.map(({ name, slots: allows, formula }) => ({ name, allows, formula })),
    },
    notes: notesOf(machine, need, limits, slots),
  };
}

function notesOf(
  machine: Machine,
  need: ShardNeed,
  limits: readonly { name: string; slots: number }[],
  slots: number,
): string[] {
  const notes: string[] = [];
  if (machine.iops === undefined && need.iops > 0)
    notes.push(
      "The machine's disk operations a second are unknown: not a limit here, which does not mean that there is none.",
    );
  if (machine.networkBytes === undefined && need.networkBytes > 0)
    notes.push(
      "The machine's network speed is unknown: not a limit here, which does not mean that there is none.",
    );
  const most = Math.max(...limits.map((one) => one.slots));
  if (slots > 0 && most >= 2 * slots) {
    const idle = limits.filter((one) => one.slots >= 2 * slots).map((one) => one.name);
    notes.push(
      `${idle.join(" and ")} would carry twice as many: a machine with less of it, or more of what is short, is the better buy.`,
    );
  }
  if (
    machine.numaNodes > 1 &&
    need.peakBytes * peakMargin > memoryForJobs(machine.memoryBytes) / machine.numaNodes
  ) {
    notes.push(
      "A shard does not fit into one NUMA node: buy nodes with more memory, or make shards smaller.",
    );
  }
  return notes;
}

function checkMachine({ cores, memoryBytes, numaNodes }: Machine, need: ShardNeed): void {
  const bad = (option: string, value: number | string, expected: string) => {
    throw new EscapementError("E_BAD_VALUE", {
      option,
      value,
      expected,
      hint: "run with --help to see what it means",
    });
  };
  if (!Number.isInteger(cores) || cores < 1) bad("--cores", cores, "a whole number of at least 1");
  if (!Number.isInteger(numaNodes) || numaNodes < 1)
    bad("--numa-nodes", numaNodes, "a whole number of at least 1");
  if (numaNodes > cores) bad("--numa-nodes", numaNodes, `at most the ${cores} cores`);
  if (!(memoryForJobs(memoryBytes) > 0))
    bad("--memory", gib(memoryBytes), "more than the 2 GiB that the system keeps");
  if (!(need.peakBytes > 0)) bad("--peak", need.peakBytes, "more than nothing");
  if (!(need.cores > 0)) bad("--cores-per-shard", need.cores, "more than 0");
  if (need.iops < 0) bad("--iops-per-shard", need.iops, "at least 0");
  if (need.networkBytes < 0) bad("--network-per-shard", need.networkBytes, "at least 0");
}

function gib(bytes: number): string {
  return `${Math.round((bytes / gibibyte) * 10) / 10} GiB`;
}

function mb(bytes: number): string {
  return `${Math.round(bytes / 1e6)} MB/s`;
}
