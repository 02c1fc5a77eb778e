/** Memory of one running shard: its parts, its peak, and what to set aside for it. */
import { EscapementError } from "../../base/errors.ts";
import { type Answer, type Figure, figure } from "../figure.ts";

export interface MemoryParts {
  readonly heapBytes?: number | undefined;
  readonly offHeapBytes?: number | undefined;
  readonly pageCacheBytes?: number | undefined;
  readonly othersBytes?: number | undefined;
  /** Measured peak, in place of the parts. */
  readonly peakBytes?: number | undefined;
}

export interface MemoryQuestion {
  readonly parts: MemoryParts;
  /** Memory of one NUMA node of the machine it shall run on, if known. */
  readonly nodeBytes?: number;
}

/** Set aside: this many times the peak. */
export const peakMargin = 1.5;
/** From here on the kernel slows a job down before it is killed at the margin. */
export const highMargin = 1.25;
/** A Java heap's process is about this much larger, where nothing better is known. */
const offHeapShare = 0.25;

/** Peak of one shard, bytes. @throws E_BAD_VALUE when there is nothing to start from */
export function peakOf(parts: MemoryParts): {
  readonly bytes: number;
  readonly formula: string;
  readonly isMeasured: boolean;
} {
  if (parts.peakBytes !== undefined) {
    return { bytes: positive("--peak", parts.peakBytes), formula: "measured peak", isMeasured: true };
  }
  if (parts.heapBytes === undefined) {
    throw new EscapementError("E_USAGE", {
      what: "give --heap, or --peak with the measured one: memory.peak of the job's cgroup is the best figure there is",
    });
  }
  const heap = positive("--heap", parts.heapBytes);
  const offHeap = parts.offHeapBytes ?? heap * offHeapShare;
  const cache = parts.pageCacheBytes ?? 0;
  const others = parts.othersBytes ?? 0;
  for (const [option, bytes] of [
    ["--off-heap", offHeap],
    ["--page-cache", cache],
    ["--others", others],
  ] as const) {
    if (bytes < 0) positive(option, bytes);
  }
  const guessed = parts.offHeapBytes === undefined ? ` (${offHeapShare} × heap, no better figure)` : "";
  return {
    bytes: heap + offHeap + cache + others,
    formula: `heap + off-heap${guessed} + page cache + others`,
    isMeasured: false,
  };
}

/** @throws E_BAD_VALUE */
export function estimateMemory({ parts, nodeBytes }: MemoryQuestion): Answer {
  const peak = peakOf(parts);
  const reserve = peak.bytes * peakMargin;
  const inputs = Object.fromEntries(
    Object.entries(parts).filter(([, value]) => value !== undefined),
  ) as Record<string, number>;
  const figures: Record<string, Figure> = {
    peak: figure(
      "peak of one shard",
      peak.bytes,
      "memory",
      peak.formula,
      inputs,
      peak.isMeasured ? "input" : "arithmetic",
    ),
    reserve: figure(
      "set aside (MemoryMax)",
      reserve,
      "memory",
      `peak × ${peakMargin}`,
      { peak: peak.bytes },
      "rule.heap-margin",
    ),
    high: figure(
      "slowed down from (MemoryHigh)",
      peak.bytes * highMargin,
      "memory",
      `peak × ${highMargin}`,
      { peak: peak.bytes },
      "rule.heap-margin",
    ),
  };
  const notes: string[] = [
    "The margin is applied once, to the peak: not to the heap and to the machine again.",
  ];
  if (!peak.isMeasured) notes.push("Replace the sum by memory.peak of a real run as soon as there is one.");
  if (nodeBytes !== undefined) {
    if (!(nodeBytes > 0)) positive("--numa-node", nodeBytes);
    const fits = Math.floor(nodeBytes / reserve);
    figures.perNode = figure(
      "fit into one NUMA node",
      fits,
      "count",
      "⌊memory of a node ÷ set aside⌋",
      { nodeBytes, reserve },
      "arithmetic",
    );
    if (fits === 0)
      notes.push(
        "Not one fits into a NUMA node: its memory would be spread over nodes, and every access to the other one is slower.",
      );
  }
  return {
    figures,
    binding: {
      constraint: "peak",
      why: `${peak.formula}, with half as much again in reserve`,
      limits: [{ name: "memory", allows: Math.round(reserve), formula: `peak × ${peakMargin}` }],
    },
    notes,
  };
}

function positive(option: string, bytes: number): number {
  if (bytes > 0) return bytes;
  throw new EscapementError("E_BAD_VALUE", {
    option,
    value: bytes,
    expected: "more than nothing",
    hint: "write for example 4GiB",
  });
}
