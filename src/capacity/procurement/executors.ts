/** Chooses executors: the machine, and how many of it, that carry the work for the least money. */
import { EscapementError } from "../../base/errors.ts";
import type { Catalogue } from "../../spec/catalogue-schema.ts";
import { type Binding, type Figure, figure } from "../figure.ts";
import { estimateConcurrency, type ShardNeed } from "../machine/concurrency.ts";
import { type Configuration, configurations, type MachineDemand, partsOf } from "./configuration.ts";
import { reserveOf } from "./demand.ts";

export interface ExecutorChoice {
  readonly configuration: Configuration;
  readonly slots: number;
  readonly machines: Figure;
  readonly binding: Binding;
  readonly totalPrice: number;
}

/** One more than the work needs, so that one may be lost or rebuilt; two at least. */
const spare = 1;
const fewest = 2;
/** Sizes that are tried: memory for so many shards at once. */
const gibibyte = 2 ** 30;

/** Every sensible choice, cheapest in total first. @throws E_BAD_DATA when the catalogue cannot carry one shard */
export function executorChoices(
  catalogue: Catalogue,
  base: MachineDemand,
  need: ShardNeed,
  atOnce: number,
): ExecutorChoice[] {
  const choices = new Map<string, ExecutorChoice>();
  const coreSizes = new Set(partsOf(catalogue, "cpu").flatMap(({ cores }) => [cores, 2 * cores]));
  let failure: EscapementError | undefined;
  for (const cores of coreSizes) {
    for (const shards of shardSteps(atOnce)) {
      const demand = { ...base, cores, memoryBytes: memoryFor(shards, need) };
      let machines: Configuration[];
      try {
        machines = configurations(catalogue, demand);
      } catch (error) {
        if (!(error instanceof EscapementError)) throw error;
        failure ??= error;
        continue;
      }
      const configuration = machines[0]!;
      const choice = rate(configuration, need, atOnce);
      if (choice)
        choices.set(configuration.lines.map(({ part, quantity }) => `${part.id}×${quantity}`).join(), choice);
    }
  }
  const sorted = [...choices.values()].sort((a, b) => a.totalPrice - b.totalPrice);
  if (sorted.length === 0) {
    throw (
      failure ??
      new EscapementError("E_BAD_DATA", {
        what: `no machine of the catalogue runs one shard of ${base.role}`,
        hint: "add a larger machine, or make shards smaller",
      })
    );
  }
  return sorted;
}

function rate(configuration: Configuration, need: ShardNeed, atOnce: number): ExecutorChoice | undefined {
  const answer = estimateConcurrency(
    {
      cores: configuration.cores,
      memoryBytes: configuration.memoryBytes,
      numaNodes: configuration.numaNodes,
      iops: configuration.writeIops,
      networkBytes: (configuration.networkGigabits * 1e9) / 8,
    },
    need,
  );
  if (answer.slots === 0) return undefined;
  const working = Math.ceil(atOnce / answer.slots);
  const count = Math.max(fewest, working + spare);
  return {
    configuration,
    slots: answer.slots,
    machines: figure(
      "machines",
      count,
      "count",
      `⌈${atOnce} shards at once ÷ ${answer.slots} a machine⌉ + ${spare} that may be lost, at least ${fewest}`,
      { atOnce, slots: answer.slots, spare },
      "arithmetic",
    ),
    binding: answer.binding,
    totalPrice: count * configuration.price,
  };
}

/** Memory that gives room for so many shards after the system has taken its part. */
function memoryFor(shards: number, need: ShardNeed): number {
  const jobs = shards * reserveOf(need);
  return Math.ceil(Math.max(jobs + 2 * gibibyte, jobs / 0.95) / gibibyte) * gibibyte;
}

function shardSteps(atOnce: number): number[] {
  const steps = [1, 2, 4, 6, 8, 12, 16, 20, 24, 28, 32, 40, 48, 56, 64, 80, 96];
  return steps.filter((step) => step <= Math.max(1, atOnce));
}
