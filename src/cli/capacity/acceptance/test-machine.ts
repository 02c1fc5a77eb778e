/** Runs the acceptance tests of a role on the machine this runs on. */
import { statfsSync } from "node:fs";
import { EscapementError, messageOf } from "../../../base/errors.ts";
import { judgeClockOffset, judgeTimeZone } from "../../../capacity/acceptance/judge-clock.ts";
import {
  type DiskReading,
  judgeCapacity,
  judgeFlushRate,
  judgeNetworkSpeed,
  judgeRaidCache,
  judgeWriteCache,
  judgeWriteIops,
} from "../../../capacity/acceptance/judge-disk.ts";
import { judgeEcc, judgeMemory, judgeMemorySpeed } from "../../../capacity/acceptance/judge-memory.ts";
import { judgePowerSupplies } from "../../../capacity/acceptance/judge-power.ts";
import {
  judgeClockSource,
  judgeCores,
  judgeNumaNodes,
} from "../../../capacity/acceptance/judge-processor.ts";
import { unknown, type Verdict } from "../../../capacity/acceptance/verdict.ts";
import { formatFigure } from "../../../capacity/format.ts";
import type { SheetRequirement } from "../../../capacity/procurement/page.ts";
import type { AcceptanceResult } from "../accept.ts";
import { measureDisk } from "../measure-disk.ts";
import {
  readAnyCommand,
  readCommand,
  readEdac,
  readFileText,
  readLinks,
  readRaidControllers,
  readTimeZone,
} from "./readings.ts";

/** Tests that need the disk to be measured, which takes some seconds. */
const measured: readonly string[] = ["flush-rate", "write-iops", "write-cache", "disk-capacity"];

/** @param folder whose disk is tested. A test that throws is unknown. @throws E_BAD_VALUE when the folder is none */
export async function testMachine(
  requirements: readonly SheetRequirement[],
  folder: string,
): Promise<AcceptanceResult[]> {
  const disk = requirements.some(({ accept }) => measured.includes(accept.check))
    ? await readDisk(requirements, folder)
    : undefined;
  const results: AcceptanceResult[] = [];
  for (const requirement of requirements) {
    const { id, text, accept, limit } = requirement;
    let verdict: Verdict;
    try {
      verdict = await test(requirement, disk);
    } catch (error) {
      verdict = unknown(messageOf(error));
    }
    results.push({
      id,
      requirement: text,
      check: accept.check,
      limit: limit && formatFigure(limit),
      ...verdict,
    });
  }
  return results;
}

async function readDisk(requirements: readonly SheetRequirement[], folder: string): Promise<DiskReading> {
  const mustMeasure = requirements.some(
    ({ accept }) => accept.check === "flush-rate" || accept.check === "write-iops",
  );
  const none = {
    totalBytes: undefined,
    hasVolatileCache: undefined,
    isTurning: undefined,
    flushesPerSecond: undefined,
    writeIops: undefined,
  };
  try {
    const { bsize, blocks } = statfsSync(folder);
    const { kernelView } = await import("../measure-disk.ts");
    const disk = mustMeasure ? await measureDisk(folder, "--folder") : { ...kernelView(folder), notes: [] };
    return { ...none, ...disk, totalBytes: bsize * blocks };
  } catch (error) {
    if (error instanceof EscapementError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") {
      throw new EscapementError("E_BAD_VALUE", {
        option: "--folder",
        value: folder,
        expected: "a folder on this machine",
        hint: "name the folder that the database or the scratch space will live in",
      });
    }
    return { ...none, notes: [messageOf(error)] };
  }
}

async function test({ accept, limit }: SheetRequirement, disk: DiskReading | undefined): Promise<Verdict> {
  const least = limit?.value ?? Number.NaN;
  if ("atLeast" in accept && typeof accept.atLeast === "string" && !Number.isFinite(least))
    return unknown("the sheet gives no number to compare with");
  const noDisk: DiskReading = {
    totalBytes: undefined,
    hasVolatileCache: undefined,
    isTurning: undefined,
    flushesPerSecond: undefined,
    writeIops: undefined,
    notes: [],
  };
  const dmidecode = (type: string) => readCommand("dmidecode", ["-t", type]);
  switch (accept.check) {
    case "power-supplies":
      return judgePowerSupplies(
        await readCommand("ipmitool", ["-c", "sdr", "type", "Power Supply"]),
        await dmidecode("39"),
        accept.atLeast,
      );
    case "cores":
      return judgeCores(readFileText("/proc/cpuinfo"), least);
    case "memory":
      return judgeMemory(await dmidecode("17"), readFileText("/proc/meminfo"), least);
    case "memory-ecc":
      return judgeEcc(await dmidecode("16"), readEdac());
    case "memory-speed":
      return judgeMemorySpeed(await dmidecode("17"));
    case "numa-nodes":
      return judgeNumaNodes(readFileText("/proc/cpuinfo"), readFileText("/sys/devices/system/node/online"));
    case "disk-capacity":
      return judgeCapacity(disk ?? noDisk, least);
    case "write-cache":
      return judgeWriteCache(disk ?? noDisk);
    case "flush-rate":
      return judgeFlushRate(disk ?? noDisk, least);
    case "write-iops":
      return judgeWriteIops(disk ?? noDisk, least);
    case "raid-cache":
      return judgeRaidCache(
        await readAnyCommand(
          ["storcli64", "storcli", "perccli64", "perccli"].map(
            (program) => [program, ["/call", "show", "all", "J"]] as const,
          ),
        ),
        await readCommand("ssacli", ["ctrl", "all", "show", "config", "detail"]),
        readRaidControllers(),
      );
    case "network-speed":
      return judgeNetworkSpeed(readLinks(), least);
    case "clock-source":
      return judgeClockSource(
        readFileText("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        accept.oneOf,
      );
    case "clock-offset":
      return judgeClockOffset(await readCommand("chronyc", ["-n", "-c", "tracking"]), accept.atMost);
    case "time-zone":
      return judgeTimeZone(readTimeZone(), accept.equals);
    default:
      return unknown(`this program knows no test ${JSON.stringify((accept as { check: string }).check)}`);
  }
}
