/** Puts a machine together from a catalogue: the cheapest one that can do what is asked. */
import { EscapementError } from "../../base/errors.ts";
import type { Catalogue, Part, PartOf, PartType } from "../../spec/catalogue-schema.ts";
import type { Role } from "../../spec/procurement-schema.ts";
import { counted, decimalBytes, formatValue } from "../format.ts";
import { writePenalty } from "../iops/media.ts";

/** What is asked of one machine. */
export interface MachineDemand {
  readonly role: string;
  readonly cores: number;
  readonly memoryBytes: number;
  readonly diskBytes: number;
  readonly flushesPerSecond: number;
  /** Writes at the drives, the layout's penalty paid. */
  readonly writeIops: number;
  readonly networkGigabits: number;
  readonly powerSupplies: number;
  readonly disk: Role["disk"];
}

export interface ConfigurationLine {
  readonly part: Part;
  /** Pieces in one machine. */
  readonly quantity: number;
  readonly why: string;
}

export interface Configuration {
  readonly lines: readonly ConfigurationLine[];
  readonly price: number;
  readonly watts: number;
  readonly rackUnits: number;
  readonly cores: number;
  readonly numaNodes: number;
  readonly memoryBytes: number;
  readonly usableDiskBytes: number;
  readonly drives: number;
  readonly writeIops: number;
  readonly networkGigabits: number;
}

/** Usable drives out of so many, and how many are needed at least, by layout. */
const layouts: Readonly<
  Record<
    Role["disk"]["layout"],
    { usable(drives: number): number; least: number; step: number; most: number }
  >
> = {
  single: { usable: (drives) => drives, least: 1, step: 1, most: 1 },
  raid1: { usable: () => 1, least: 2, step: 1, most: 2 },
  raid10: { usable: (drives) => drives / 2, least: 4, step: 2, most: 200 },
  raid5: { usable: (drives) => drives - 1, least: 3, step: 1, most: 200 },
  raid6: { usable: (drives) => drives - 2, least: 4, step: 1, most: 200 },
};

/** Every machine of the catalogue that fits, cheapest first. @throws E_BAD_DATA naming what the catalogue lacks */
export function configurations(catalogue: Catalogue, demand: MachineDemand): Configuration[] {
  const found: Configuration[] = [];
  const misses: Miss[] = [];
  for (const server of partsOf(catalogue, "server")) {
    for (const cpu of partsOf(catalogue, "cpu")) {
      for (let sockets = 1; sockets <= server.sockets; sockets++) {
        const result = complete(catalogue, demand, server, cpu, sockets);
        if ("reason" in result) misses.push(result);
        else found.push(result);
      }
    }
  }
  if (found.length === 0) throw missing(catalogue, demand, misses);
  return found.sort((a, b) => a.price - b.price || a.watts - b.watts);
}

/** Why a machine does not do. */
interface Miss {
  /** Steps it had passed: what stopped the machine that came furthest is what the catalogue lacks. */
  readonly step: number;
  readonly reason: string;
}

/** A machine, or why it is none. */
function complete(
  catalogue: Catalogue,
  demand: MachineDemand,
  server: PartOf<"server">,
  cpu: PartOf<"cpu">,
  sockets: number,
): Configuration | Miss {
  const cores = sockets * cpu.cores;
  if (cores < demand.cores) return { step: 0, reason: `cores: ${demand.cores} are needed` };
  if (server.powerSupplies < demand.powerSupplies)
    return { step: 1, reason: `power supplies: ${demand.powerSupplies} are needed` };
  const memory = cheapestMemory(catalogue, demand.memoryBytes, server, sockets, sockets * cpu.numaNodes);
  if (!memory) return { step: 2, reason: `memory: ${formatValue(demand.memoryBytes, "memory")} are needed` };
  const disk = cheapestDisks(catalogue, demand, server);
  if (typeof disk === "string") return { step: 3, reason: disk };
  const network = cheapest(
    partsOf(catalogue, "network").filter(({ gigabits }) => gigabits >= demand.networkGigabits),
  );
  if (!network) return { step: 4, reason: `network: ${demand.networkGigabits} Gbit/s are needed` };
  const lines: ConfigurationLine[] = [
    {
      part: server,
      quantity: 1,
      why: `${counted(server.sockets, "socket")}, ${counted(server.driveBays, "bay")}, ${counted(server.powerSupplies, "power supply", "power supplies")}`,
    },
    { part: cpu, quantity: sockets, why: `${demand.cores} cores are needed, ${cores} come` },
    {
      part: memory.part,
      quantity: memory.quantity,
      why: `${formatValue(demand.memoryBytes, "memory")} are needed, the same number of modules for each NUMA node`,
    },
    ...disk.lines,
    { part: network, quantity: 1, why: `${demand.networkGigabits} Gbit/s, two ports for two switches` },
  ];
  const watts = lines.reduce((sum, { part, quantity }) => sum + part.watts * quantity, 0);
  // With two supplies each must carry the machine alone.
  const alone = Math.max(1, demand.powerSupplies - 1);
  if (watts > server.powerSupplyWatts * alone)
    return { step: 5, reason: `power: ${watts} W are more than ${server.title} supplies` };
  return {
    lines,
    price: lines.reduce((sum, { part, quantity }) => sum + part.price.amount * quantity, 0),
    watts,
    rackUnits: server.rackUnits,
    cores,
    numaNodes: sockets * cpu.numaNodes,
    memoryBytes: memory.part.capacity * memory.quantity,
    usableDiskBytes: disk.usableBytes,
    drives: disk.drives,
    writeIops: disk.writeIops,
    networkGigabits: network.gigabits,
  };
}

/** The same number of modules for every NUMA node, so that none is slower than the others. */
function cheapestMemory(
  catalogue: Catalogue,
  bytes: number,
  server: PartOf<"server">,
  sockets: number,
  nodes: number,
): { part: PartOf<"memory">; quantity: number } | undefined {
  const slots = Math.floor(server.memorySlots / server.sockets) * sockets;
  const fitting = partsOf(catalogue, "memory")
    .filter(({ ecc }) => ecc)
    .map((part) => ({ part, quantity: Math.ceil(bytes / part.capacity / nodes) * nodes }))
    .filter(({ quantity }) => quantity <= slots);
  return fitting.sort((a, b) => a.part.price.amount * a.quantity - b.part.price.amount * b.quantity)[0];
}

interface Disks {
  readonly lines: readonly ConfigurationLine[];
  readonly usableBytes: number;
  readonly drives: number;
  readonly writeIops: number;
  readonly price: number;
}

function cheapestDisks(
  catalogue: Catalogue,
  demand: MachineDemand,
  server: PartOf<"server">,
): Disks | string {
  const { layout, powerLossProtection, protectedRaidCache } = demand.disk;
  const controller = protectedRaidCache
    ? cheapest(partsOf(catalogue, "raid-controller").filter(({ protectedCache }) => protectedCache))
    : undefined;
  if (protectedRaidCache && !controller) return "RAID controller: one with a protected cache is needed";
  const rule = layouts[layout];
  const options: Disks[] = [];
  for (const drive of partsOf(catalogue, "disk")) {
    if (powerLossProtection && !drive.powerLossProtection) continue;
    const flushes = controller?.flushesPerSecond ?? drive.flushesPerSecond;
    if (flushes < demand.flushesPerSecond) continue;
    for (let drives = rule.least; drives <= Math.min(server.driveBays, rule.most); drives += rule.step) {
      const usableBytes = rule.usable(drives) * drive.capacity;
      const writeIops = drives * drive.writeIops;
      if (usableBytes < demand.diskBytes || writeIops < demand.writeIops) continue;
      const lines: ConfigurationLine[] = [
        {
          part: drive,
          quantity: drives,
          why: `${layout}: ${decimalBytes(usableBytes)} usable, ${decimalBytes(demand.diskBytes)} needed; ${counted(writePenalty[layout], "operation")} a write`,
        },
      ];
      if (controller)
        lines.push({ part: controller, quantity: 1, why: "write cache that survives a power cut" });
      options.push({
        lines,
        usableBytes,
        drives,
        writeIops,
        price: lines.reduce((sum, { part, quantity }) => sum + part.price.amount * quantity, 0),
      });
      break;
    }
  }
  const best = options.sort((a, b) => a.price - b.price)[0];
  return (
    best ??
    `disk: ${decimalBytes(demand.diskBytes)} usable as ${layout}${powerLossProtection ? " with power-loss protection" : ""}, ${Math.ceil(demand.flushesPerSecond)} flushes and ${Math.ceil(demand.writeIops)} writes a second are needed`
  );
}

export function partsOf<T extends PartType>(catalogue: Catalogue, type: T): PartOf<T>[] {
  return catalogue.parts.filter((part): part is PartOf<T> => part.type === type);
}

function cheapest<T extends Part>(parts: readonly T[]): T | undefined {
  return [...parts].sort((a, b) => a.price.amount - b.price.amount)[0];
}

function missing(catalogue: Catalogue, demand: MachineDemand, misses: readonly Miss[]): EscapementError {
  const empty = (["server", "cpu", "memory", "disk", "network"] as const).filter(
    (type) => partsOf(catalogue, type).length === 0,
  );
  const furthest = Math.max(...misses.map(({ step }) => step));
  const reasons = new Set(misses.filter(({ step }) => step === furthest).map((one) => one.reason));
  const reason = empty.length > 0 ? `it has no part of type ${empty.join(", ")}` : [...reasons].join("; ");
  return new EscapementError("E_BAD_DATA", {
    what: `no machine for ${demand.role} can be put together from the catalogue: ${reason}`,
    hint: "add a part that fits, or change what the sheet asks for",
  });
}
