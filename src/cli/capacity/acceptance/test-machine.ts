/** Runs the acceptance tests of a role on the machine this runs on. */
import { statfsSync } from "node:fs";
import { EscapementError, messageOf } from "../../../base/errors.ts";
import { fromValue } from "../../../base/fact.ts";
import {
  type AcceptanceRequirement,
  type AcceptanceResult,
  acceptMachine,
  needsMeasuredDisk,
  unknownDisk,
} from "../../../capacity/acceptance/accept-machine.ts";
import type { DiskFacts } from "../../../capacity/acceptance/machine-facts.ts";
import { type MachineReadings, machineFacts } from "../../../capacity/acceptance/machine-text.ts";
import { type DiskMeasurement, kernelView, measureDisk } from "../measure-disk.ts";
import {
  readAnyCommand,
  readCommand,
  readEdac,
  readFileText,
  readLinks,
  readRaidControllers,
  readTimeZone,
} from "./readings.ts";

/** Tests that look at the disk. */
const ofDisk: readonly string[] = ["flush-rate", "write-iops", "write-cache", "disk-capacity"];

/** @param folder whose disk is tested. @throws E_BAD_VALUE when the folder is none */
export async function testMachine(
  requirements: readonly AcceptanceRequirement[],
  folder: string,
): Promise<AcceptanceResult[]> {
  // One after the other: what else runs slows the disk down.
  const disk = requirements.some(({ accept }) => ofDisk.includes(accept.check))
    ? await readDisk(folder, needsMeasuredDisk(requirements))
    : undefined;
  return acceptMachine(requirements, machineFacts(await readMachine()), disk);
}

async function readMachine(): Promise<MachineReadings> {
  const dmidecode = (type: string) => readCommand("dmidecode", ["-t", type]);
  const [memoryArrays, memoryModules, powerSupplies, sdr, tracking, storcli, ssacli] = await Promise.all([
    dmidecode("16"),
    dmidecode("17"),
    dmidecode("39"),
    readCommand("ipmitool", ["-c", "sdr", "type", "Power Supply"]),
    readCommand("chronyc", ["-n", "-c", "tracking"]),
    readAnyCommand(
      ["storcli64", "storcli", "perccli64", "perccli"].map(
        (program) => [program, ["/call", "show", "all", "J"]] as const,
      ),
    ),
    readCommand("ssacli", ["ctrl", "all", "show", "config", "detail"]),
  ]);
  return {
    cpuinfo: readFileText("/proc/cpuinfo"),
    numaOnline: readFileText("/sys/devices/system/node/online"),
    meminfo: readFileText("/proc/meminfo"),
    memoryArrays,
    memoryModules,
    powerSupplies,
    edac: readEdac(),
    sdr,
    links: readLinks(),
    clockSource: readFileText("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
    timeZone: readTimeZone(),
    tracking,
    storcli,
    ssacli,
    raidControllers: readRaidControllers(),
  };
}

async function readDisk(folder: string, mustMeasure: boolean): Promise<DiskFacts> {
  try {
    const { bsize, blocks } = statfsSync(folder);
    const disk: DiskMeasurement = mustMeasure
      ? await measureDisk(folder, "--folder")
      : { ...kernelView(folder), notes: [] };
    const notes = disk.notes.join("; ");
    const untold = "the kernel does not tell";
    return {
      totalBytes: { known: bsize * blocks },
      hasVolatileCache: fromValue(disk.hasVolatileCache, `${untold} the drive's cache`),
      powerLossProtection: { unknown: "only the drive's maker can tell" },
      isTurning: fromValue(disk.isTurning, `${untold} whether the disk turns`),
      flushesPerSecond: fromValue(disk.flushesPerSecond, notes || "flushes were not measured"),
      writeIops: fromValue(disk.writeIops, notes || "writes were not measured"),
    };
  } catch (error) {
    if (error instanceof EscapementError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ENOENT" && code !== "ENOTDIR") return unknownDisk(messageOf(error));
    throw new EscapementError("E_BAD_VALUE", {
      option: "--folder",
      value: folder,
      expected: "a folder on this machine",
      hint: "name the folder that the database or the scratch space will live in",
    });
  }
}
