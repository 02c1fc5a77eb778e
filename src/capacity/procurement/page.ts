/** One page of the sheet: the machine of a role, how many, what else would do, and what is tested. */
import type { Catalogue, PartOf } from "../../spec/catalogue-schema.ts";
import type { AcceptanceTest } from "../../spec/procurement-schema.ts";
import type { Binding, Figure } from "../figure.ts";
import { formatFigure } from "../format.ts";
import { type Configuration, configurations, type MachineDemand } from "./configuration.ts";
import type { DemandFigures, RoleDemand } from "./demand.ts";
import { executorChoices } from "./executors.ts";

export interface SheetRequirement {
  readonly id: string;
  readonly text: string;
  readonly why: string;
  readonly accept: AcceptanceTest;
  /** The number the test compares with, where it has one. */
  readonly limit: Figure | undefined;
}

export interface Alternative {
  readonly title: string;
  readonly machines: number;
  readonly totalPrice: number;
  readonly difference: string;
}

export interface RolePage {
  readonly name: string;
  readonly title: string;
  readonly purpose: string;
  readonly machines: Figure;
  readonly figures: DemandFigures;
  readonly extra: readonly Figure[];
  readonly binding: Binding;
  readonly configuration: Configuration;
  readonly powerSupplies: number;
  readonly powerSupplyWatts: number;
  readonly alternatives: readonly Alternative[];
  readonly requirements: readonly SheetRequirement[];
}

/** So many other choices are shown. */
const nextBest = 3;

/** @throws E_BAD_DATA when the catalogue has no part that fits */
export function pageOf(demand: RoleDemand, catalogue: Catalogue): RolePage {
  const { role, figures } = demand;
  const asked: MachineDemand = {
    role: demand.name,
    cores: figures.cores?.value ?? 1,
    memoryBytes: figures.memoryBytes?.value ?? 1,
    diskBytes: figures.diskBytes?.value ?? 1,
    flushesPerSecond: figures.flushesPerSecond?.value ?? 1,
    writeIops: figures.writeIops?.value ?? 1,
    networkGigabits: figures.networkGigabits?.value ?? 0.1,
    powerSupplies: role.powerSupplies,
    disk: role.disk,
  };
  const picked = demand.shards ? pickExecutor(demand, asked, catalogue) : pickFixed(demand, asked, catalogue);
  const server = picked.configuration.lines.find(({ part }) => part.type === "server")!
    .part as PartOf<"server">;
  const all: DemandFigures = { ...figures, ...picked.figures };
  return {
    name: demand.name,
    title: demand.title,
    purpose: role.purpose,
    machines: picked.machines,
    figures: all,
    extra: demand.shards ? [demand.shards.atOnce] : [],
    binding: picked.binding,
    configuration: picked.configuration,
    powerSupplies: role.powerSupplies,
    powerSupplyWatts: server.powerSupplyWatts,
    alternatives: picked.alternatives,
    requirements: role.requirements.map(({ id, text, why, accept }) => ({
      id,
      text: text.replace(/\{(\w+)\}/g, (whole, name: string) => {
        const figure = all[name as keyof DemandFigures];
        return figure ? formatFigure(figure) : whole;
      }),
      why,
      accept,
      limit: "atLeast" in accept && typeof accept.atLeast === "string" ? all[accept.atLeast] : undefined,
    })),
  };
}

interface Picked {
  readonly configuration: Configuration;
  readonly machines: Figure;
  readonly binding: Binding;
  readonly figures: DemandFigures;
  readonly alternatives: readonly Alternative[];
}

function pickFixed(demand: RoleDemand, asked: MachineDemand, catalogue: Catalogue): Picked {
  const [configuration, ...others] = configurations(catalogue, asked);
  const machines = demand.machines!;
  const title = (one: Configuration) =>
    one.lines
      .map(({ part, quantity }) => `${quantity} × ${part.title}`)
      .slice(0, 2)
      .join(", ");
  return {
    configuration: configuration!,
    machines,
    figures: {},
    binding: {
      constraint: "price",
      why: "the cheapest machine of the catalogue that meets every line",
      limits: Object.values(demand.figures).map((one) => ({
        name: one.label,
        allows: formatFigure(one),
        formula: one.formula,
      })),
    },
    alternatives: distinct(others, title).map((one) =>
      alternative(title(one), machines.value, one, configuration!, machines.value),
    ),
  };
}

function pickExecutor(demand: RoleDemand, asked: MachineDemand, catalogue: Catalogue): Picked {
  const { atOnce, need } = demand.shards!;
  const [best, ...others] = executorChoices(catalogue, asked, need, atOnce.value);
  const { configuration, machines, binding, slots } = best!;
  const title = (one: Configuration) => `${one.cores} cores, ${Math.round(one.memoryBytes / 2 ** 30)} GiB`;
  return {
    configuration,
    machines,
    binding,
    figures: {
      cores: {
        ...machines,
        label: "cores of each",
        value: configuration.cores,
        unit: "count",
        formula: `${slots} shards at once on each machine`,
      },
      memoryBytes: {
        ...machines,
        label: "memory of each",
        value: configuration.memoryBytes,
        unit: "memory",
        formula: `${slots} × 1.5 × peak and the system's part`,
      },
    },
    alternatives: distinct(others, ({ configuration: one }) => title(one)).map((one) =>
      alternative(
        `${title(one.configuration)}, ${one.slots} shards each`,
        one.machines.value,
        one.configuration,
        configuration,
        machines.value,
      ),
    ),
  };
}

function alternative(
  title: string,
  machines: number,
  one: Configuration,
  best: Configuration,
  bestMachines: number,
): Alternative {
  const price = machines * one.price - bestMachines * best.price;
  const watts = machines * one.watts - bestMachines * best.watts;
  const signed = (value: number) =>
    `${value >= 0 ? "+" : "−"}${Math.abs(Math.round(value)).toLocaleString("en-US")}`;
  return {
    title,
    machines,
    totalPrice: machines * one.price,
    difference: `${signed(price)} in price, ${signed(watts)} W`,
  };
}

function distinct<T>(items: readonly T[], title: (item: T) => string): T[] {
  const seen = new Set<string>();
  return items.filter((item) => !seen.has(title(item)) && seen.add(title(item))).slice(0, nextBest);
}
