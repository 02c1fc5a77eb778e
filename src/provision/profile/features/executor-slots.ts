/**
 * How many attempts of each class an executor takes: the main class gets what
 * the shares of the others leave. Cores are physical ones, because two attempts
 * on two threads of one core are one attempt at half speed; memory is counted a
 * NUMA node, because an attempt that spans two is slow.
 */
import { formatBytes } from "../../../base/bytes.ts";
import { type Fact, isKnown, known } from "../../../base/fact.ts";
import { coresForJobs, memoryForJobs } from "../../../capacity/machine/concurrency.ts";
import { peakMargin } from "../../../capacity/machine/memory.ts";
import type { Provenance } from "../../resource.ts";
import { computed, fromSetting, type HostContext, type Sourced } from "../host-context.ts";
import type { Section } from "../resolved-profile.ts";

const classes = ["cpu", "memory", "io"] as const;
type SlotClass = (typeof classes)[number];

export interface SlotPlan extends Readonly<Record<SlotClass, number>> {
  /** Memory that all slots together may take, with their reserve. */
  readonly memoryBytes: number;
  readonly provenance: readonly Provenance[];
}

export function planSlots(section: Section<"executor">, context: HostContext): Fact<SlotPlan> {
  const { cores, memory, numaNodes } = context;
  if (!isKnown(cores)) return cores;
  if (!isKnown(memory)) return memory;
  if (!isKnown(numaNodes)) return numaNodes;
  return known(divide(section, cores.known, memory.known, numaNodes.known));
}

function divide(
  section: Section<"executor">,
  cores: Sourced<number>,
  memory: Sourced<number>,
  nodes: Sourced<number>,
): SlotPlan {
  const { mainClass } = section.value;
  const allCores = coresForJobs(cores.value);
  // What the system keeps may be more than a very small machine has.
  const allMemory = Math.max(0, memoryForJobs(memory.value));
  const counts: Record<SlotClass, number> = { cpu: 0, memory: 0, io: 0 };
  const provenance: Provenance[] = [
    ...[
      ["cores", cores],
      ["memory", memory],
      ["numaNodes", nodes],
    ].flatMap(([name, one]) =>
      (one as Sourced<number>).from === "facts"
        ? []
        : [fromSetting(`executor.${name as string}`, one as Sourced<number>)],
    ),
    computed(
      "executor.coresForJobs",
      allCores,
      `${cores.value} physical cores (${cores.from}) − 1 for every 8, rounded up, for the system`,
    ),
    computed(
      "executor.memoryForJobs",
      formatBytes(allMemory),
      `${formatBytes(memory.value)} (${memory.from}) − the larger of 2 GiB and 5 % for the system`,
    ),
  ];
  let freeCores = allCores;
  let freeMemory = allMemory;
  const order = [...classes.filter((one) => one !== mainClass), mainClass];
  for (const of of order) {
    const { share, factor, peakMemory } = section.value[of];
    const isMain = of === mainClass;
    const coresHere = isMain ? freeCores : allCores * share;
    const memoryHere = isMain ? freeMemory : allMemory * share;
    const reserve = peakMemory * peakMargin;
    const byCores = Math.floor(coresHere * factor);
    const byMemory = Math.floor(memoryHere / nodes.value / reserve) * nodes.value;
    const count = Math.max(0, Math.min(byCores, byMemory));
    counts[of] = count;
    freeCores = Math.max(0, freeCores - count / factor);
    freeMemory = Math.max(0, freeMemory - count * reserve);
    const part = isMain ? "what the other classes leave" : `a share of ${share}`;
    provenance.push(
      section.written(`${of}.factor`, factor),
      section.written(`${of}.peakMemory`, formatBytes(peakMemory)),
      computed(
        `executor.slots.${of}`,
        count,
        `${part}: the lesser of ⌊${round(coresHere)} cores × ${factor}⌋ = ${byCores} and ` +
          `⌊${formatBytes(memoryHere)}${nodes.value > 1 ? ` ÷ ${nodes.value} NUMA nodes` : ""} ÷ (${formatBytes(peakMemory)} × ${peakMargin})⌋` +
          `${nodes.value > 1 ? ` × ${nodes.value}` : ""} = ${byMemory}`,
      ),
    );
  }
  const memoryBytes = classes.reduce(
    (sum, of) => sum + counts[of] * section.value[of].peakMemory * peakMargin,
    0,
  );
  return { ...counts, memoryBytes, provenance };
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
