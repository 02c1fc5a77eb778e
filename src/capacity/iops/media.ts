/** What kinds of disk can do, for planning before a disk is there to be measured. */
import { EscapementError } from "../../base/errors.ts";

export interface Medium {
  readonly name: string;
  /** Flushes to stable storage a second, one after the other. */
  readonly flushesPerSecond: number;
  /** Random 8 KiB writes a second. */
  readonly writeIops: number;
  readonly readIops: number;
  readonly powerLossProtection: boolean;
}

/** Planning figures; a catalogue entry or a measurement is better. */
export const media: Readonly<Record<string, Medium>> = {
  hdd: {
    name: "hard disk, 7,200 turns a minute, no cache",
    flushesPerSecond: 120,
    writeIops: 150,
    readIops: 150,
    powerLossProtection: true,
  },
  "consumer-ssd": {
    name: "SSD without power-loss protection",
    flushesPerSecond: 400,
    writeIops: 20_000,
    readIops: 100_000,
    powerLossProtection: false,
  },
  "protected-cache": {
    name: "any disk behind a protected write-back cache",
    flushesPerSecond: 10_000,
    writeIops: 5_000,
    readIops: 5_000,
    powerLossProtection: true,
  },
  "protected-ssd": {
    name: "SSD with power-loss protection",
    flushesPerSecond: 10_000,
    writeIops: 50_000,
    readIops: 300_000,
    powerLossProtection: true,
  },
};

/** Disk operations that a small write costs. */
export const writePenalty = { single: 1, raid0: 1, raid1: 2, raid10: 2, raid5: 4, raid6: 6 } as const;
export type DiskLayout = keyof typeof writePenalty;

/** Fewest disks a layout works with. */
export const fewestDisks: Readonly<Record<DiskLayout, number>> = {
  single: 1,
  raid0: 2,
  raid1: 2,
  raid10: 4,
  raid5: 3,
  raid6: 4,
};

/** @throws E_BAD_VALUE for a kind nobody knows */
export function mediumNamed(name: string): Medium {
  const medium = Object.hasOwn(media, name) ? media[name] : undefined;
  if (medium) return medium;
  throw new EscapementError("E_BAD_VALUE", {
    option: "--medium",
    value: name,
    expected: `one of ${Object.keys(media).join(", ")}`,
    hint: "or name a disk of a catalogue with --catalogue FILE --disk ID",
  });
}

/** A turning disk cannot flush more often than it turns. */
const mostTurns = 250;

/** What a measured flush rate says about a disk, or undefined: nothing suspicious. */
export function suspicion(
  isTurning: boolean,
  flushesPerSecond: number,
  hasProtectedCache: boolean,
): string | undefined {
  if (isTurning && !hasProtectedCache && flushesPerSecond > mostTurns) {
    return `${Math.round(flushesPerSecond)} flushes a second are more than a disk's turns: it confirms what it has not written`;
  }
  return undefined;
}
