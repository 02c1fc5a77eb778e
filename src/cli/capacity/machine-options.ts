/** A machine, from options or from the one this runs on. */
import { readFileSync } from "node:fs";
import type { Command } from "commander";
import { EscapementError } from "../../base/errors.ts";
import type { Machine } from "../../capacity/machine/concurrency.ts";
import { numberOption, sizeOption, wholeOption } from "./options.ts";

export interface MachineOptions {
  readonly cores?: string;
  readonly memory?: string;
  readonly numaNodes?: string;
  readonly iops?: string;
  readonly network?: string;
  readonly here?: boolean;
}

export function withMachineOptions(command: Command): Command {
  return command
    .option("--cores <number>", "physical cores of the machine, all sockets")
    .option("--memory <size>", "memory of the machine")
    .option("--numa-nodes <number>", "NUMA nodes of the machine", "1")
    .option("--iops <number>", "disk operations a second left for jobs")
    .option("--network <size>", "network bytes a second, for example 1.25GB for 10 Gbit/s")
    .option("--here", "take cores, memory and NUMA nodes of this machine");
}

/** Undefined when no machine is described. @throws E_BAD_VALUE, E_USAGE */
export async function machineOf(options: MachineOptions): Promise<Machine | undefined> {
  const extra = {
    ...(options.iops !== undefined && { iops: numberOption("--iops", options.iops) }),
    ...(options.network !== undefined && { networkBytes: sizeOption("--network", options.network) }),
  };
  if (options.here) return { ...(await thisMachine()), ...extra };
  if (options.cores === undefined && options.memory === undefined) return undefined;
  if (options.cores === undefined || options.memory === undefined)
    throw new EscapementError("E_USAGE", { what: "--cores and --memory describe a machine together" });
  return {
    cores: wholeOption("--cores", options.cores, 1),
    memoryBytes: sizeOption("--memory", options.memory),
    numaNodes: wholeOption("--numa-nodes", options.numaNodes ?? "1", 1),
    ...extra,
  };
}

/** The same, where a machine is needed. @throws E_USAGE */
export async function requireMachine(options: MachineOptions): Promise<Machine> {
  const machine = await machineOf(options);
  if (!machine)
    throw new EscapementError("E_USAGE", {
      what: "no machine is described: give --cores and --memory, or --here",
    });
  return machine;
}

async function thisMachine(): Promise<Machine> {
  const { parseCores, parseNumaNodes } = await import("../../capacity/acceptance/cpu-text.ts");
  const { totalmem } = await import("node:os");
  const read = (path: string) => {
    try {
      return readFileSync(path, "utf8");
    } catch {
      return "";
    }
  };
  const cores = parseCores(read("/proc/cpuinfo"));
  if (cores === undefined)
    throw new EscapementError("E_UNKNOWN", {
      what: "how many cores this machine has",
      hint: "give --cores and --memory",
    });
  return {
    cores,
    memoryBytes: totalmem(),
    numaNodes: parseNumaNodes(read("/sys/devices/system/node/online")) ?? 1,
  };
}
