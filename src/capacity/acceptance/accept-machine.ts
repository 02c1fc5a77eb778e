/** Runs the acceptance tests of a role over the facts of one machine. Pure: who gathered the facts, and how, is not its business. */

import { unknown as notKnown } from "../../base/fact.ts";
import { formatFigure } from "../format.ts";
import type { SheetRequirement } from "../procurement/page.ts";
import { judgeClockOffset, judgeTimeZone } from "./judge-clock.ts";
import {
  judgeCapacity,
  judgeFlushRate,
  judgeNetworkSpeed,
  judgeRaidCache,
  judgeWriteCache,
  judgeWriteIops,
} from "./judge-disk.ts";
import { judgeEcc, judgeMemory, judgeMemorySpeed } from "./judge-memory.ts";
import { judgePowerSupplies } from "./judge-power.ts";
import { judgeClockSource, judgeCores, judgeNumaNodes } from "./judge-processor.ts";
import type { DiskFacts, MachineFacts } from "./machine-facts.ts";
import { unknown, type Verdict } from "./verdict.ts";

/** What acceptance takes of a requirement. */
export type AcceptanceRequirement = Pick<SheetRequirement, "id" | "text" | "accept" | "limit">;

export interface AcceptanceResult extends Verdict {
  readonly id: string;
  readonly requirement: string;
  readonly check: string;
  readonly limit: string | undefined;
}

/** Tests that need the disk to be measured, not only looked at. */
export function needsMeasuredDisk(requirements: readonly AcceptanceRequirement[]): boolean {
  return requirements.some(({ accept: { check } }) => check === "flush-rate" || check === "write-iops");
}

/** A disk nobody looked at. */
export function unknownDisk(reason: string): DiskFacts {
  const fact = notKnown(reason);
  return {
    totalBytes: fact,
    hasVolatileCache: fact,
    powerLossProtection: fact,
    isTurning: fact,
    flushesPerSecond: fact,
    writeIops: fact,
  };
}

/**
 * @param requirements of the role, from a sheet's page
 * @param facts of the delivered machine; the facts that a host is asked for over the network fit as they are
 * @param disk under the folder that the role works in
 * @returns one result for each requirement, in order; what could not be looked at is unknown
 */
export function acceptMachine(
  requirements: readonly AcceptanceRequirement[],
  facts: MachineFacts,
  disk: DiskFacts = unknownDisk("the disk was not looked at"),
): AcceptanceResult[] {
  return requirements.map((requirement) => ({
    id: requirement.id,
    requirement: requirement.text,
    check: requirement.accept.check,
    limit: requirement.limit && formatFigure(requirement.limit),
    ...judge(requirement, facts, disk),
  }));
}

function judge(
  { accept, limit }: AcceptanceRequirement,
  { cpu, memory, raid, power, nics, clock }: MachineFacts,
  disk: DiskFacts,
): Verdict {
  const least = limit?.value ?? Number.NaN;
  if ("atLeast" in accept && typeof accept.atLeast === "string" && !Number.isFinite(least))
    return unknown("the sheet gives no number to compare with");
  switch (accept.check) {
    case "power-supplies":
      return judgePowerSupplies(power, accept.atLeast);
    case "cores":
      return judgeCores(cpu, least);
    case "memory":
      return judgeMemory(memory, least);
    case "memory-ecc":
      return judgeEcc(memory);
    case "memory-speed":
      return judgeMemorySpeed(memory);
    case "numa-nodes":
      return judgeNumaNodes(cpu);
    case "disk-capacity":
      return judgeCapacity(disk, least);
    case "write-cache":
      return judgeWriteCache(disk);
    case "flush-rate":
      return judgeFlushRate(disk, least);
    case "write-iops":
      return judgeWriteIops(disk, least);
    case "raid-cache":
      return judgeRaidCache(raid);
    case "network-speed":
      return judgeNetworkSpeed(nics, least);
    case "clock-source":
      return judgeClockSource(clock, accept.oneOf);
    case "clock-offset":
      return judgeClockOffset(clock, accept.atMost);
    case "time-zone":
      return judgeTimeZone(clock, accept.equals);
    default:
      return unknown(`this program knows no test ${JSON.stringify((accept as { check: string }).check)}`);
  }
}
