/** The acceptance tests as one step from a tool's output to a verdict. */
import { judgeClockOffset, judgeTimeZone } from "../../src/capacity/acceptance/judge-clock.ts";
import { judgeNetworkSpeed, judgeRaidCache } from "../../src/capacity/acceptance/judge-disk.ts";
import { judgeEcc, judgeMemory, judgeMemorySpeed } from "../../src/capacity/acceptance/judge-memory.ts";
import { judgePowerSupplies } from "../../src/capacity/acceptance/judge-power.ts";
import {
  judgeClockSource,
  judgeCores,
  judgeNumaNodes,
} from "../../src/capacity/acceptance/judge-processor.ts";
import { type MachineReadings, machineFacts } from "../../src/capacity/acceptance/machine-text.ts";
import type { Reading, Verdict } from "../../src/capacity/acceptance/verdict.ts";

export const got = (text: string): Reading => ({ text, reason: "" });
export const none: Reading = { text: undefined, reason: "tool: not installed" };

const names = [
  "cpuinfo",
  "numaOnline",
  "meminfo",
  "memoryArrays",
  "memoryModules",
  "powerSupplies",
  "edac",
  "sdr",
  "links",
  "clockSource",
  "timeZone",
  "tracking",
  "storcli",
  "ssacli",
  "raidControllers",
] as const;
/** Facts of a machine of which only this could be read. */
export const factsOf = (some: Partial<MachineReadings>) =>
  machineFacts({
    ...(Object.fromEntries(names.map((name) => [name, none])) as Record<(typeof names)[number], Reading>),
    ...some,
  });

export const fromText = {
  powerSupplies: (sdr: Reading, powerSupplies: Reading, atLeast: number) =>
    judgePowerSupplies(factsOf({ sdr, powerSupplies }).power, atLeast),
  memory: (memoryModules: Reading, meminfo: Reading, least: number) =>
    judgeMemory(factsOf({ memoryModules, meminfo }).memory, least),
  ecc: (memoryArrays: Reading, edac: Reading) => judgeEcc(factsOf({ memoryArrays, edac }).memory),
  memorySpeed: (memoryModules: Reading) => judgeMemorySpeed(factsOf({ memoryModules }).memory),
  numaNodes: (cpuinfo: Reading, numaOnline: Reading) => judgeNumaNodes(factsOf({ cpuinfo, numaOnline }).cpu),
  cores: (cpuinfo: Reading, least: number) => judgeCores(factsOf({ cpuinfo }).cpu, least),
  clockSource: (clockSource: Reading, oneOf: string[]) =>
    judgeClockSource(factsOf({ clockSource }).clock, oneOf),
  clockOffset: (tracking: Reading, atMostMs: number) =>
    judgeClockOffset(factsOf({ tracking }).clock, atMostMs),
  timeZone: (timeZone: Reading, wanted: string) => judgeTimeZone(factsOf({ timeZone }).clock, wanted),
  raidCache: (storcli: Reading, ssacli: Reading, raidControllers: Reading) =>
    judgeRaidCache(factsOf({ storcli, ssacli, raidControllers }).raid),
  networkSpeed: (links: Reading, leastGigabits: number) =>
    judgeNetworkSpeed(factsOf({ links }).nics, leastGigabits),
} satisfies Record<string, (...args: never[]) => Verdict>;
