/** `numactl -H`: processors and memory of every node. */
import { fromValue, type ListFact, listFact } from "../../base/fact.ts";
import type { NumaNode } from "../host-facts.ts";
import { linesOf, type Output } from "../output.ts";
import { parseCount, parseCpuList } from "../quantity.ts";

/** A node without memory prints an empty list of processors or a size of 0; both are nodes. */
export function parseNumactl(output: Output): ListFact<NumaNode> {
  const cpus = new Map<number, number[]>();
  const sizes = new Map<number, number>();
  let said: number | undefined;
  for (const line of linesOf(output)) {
    said ??= parseCount(/^available:\s*(\d+) nodes?\b/.exec(line)?.[1]);
    const cpuLine = /^node (\d+) cpus:(.*)$/.exec(line);
    const list = cpuLine && parseCpuList(cpuLine[2]!);
    if (cpuLine && list) cpus.set(Number(cpuLine[1]), list);
    const sizeLine = /^node (\d+) size:\s*(\d+) MB$/.exec(line.trimEnd());
    if (sizeLine) sizes.set(Number(sizeLine[1]), Number(sizeLine[2]) * 1024 ** 2);
  }
  const nodes = [...cpus]
    .sort(([a], [b]) => a - b)
    .map(([id, list]) => ({
      id,
      cpus: list,
      memoryBytes: fromValue(sizes.get(id), `numactl prints no size of node ${id}`),
    }));
  if (said === undefined) return listFact(nodes, false, "numactl does not say how many nodes there are");
  return listFact(nodes, said === nodes.length, `numactl counts ${said} nodes and lists ${nodes.length}`);
}
