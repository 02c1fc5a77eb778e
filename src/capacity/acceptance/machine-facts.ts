/**
 * What the acceptance tests look at on one machine. Every fact is known, or
 * unknown with the reason. The facts that a host is asked for over the network
 * have this shape too, so they can be handed in as they are.
 */

import type { Fact, ListFact } from "../../base/fact.ts";

export interface MachineFacts {
  readonly cpu: {
    readonly sockets: Fact<number>;
    /** Physical cores of all sockets. */
    readonly cores: Fact<number>;
    readonly numaNodes: ListFact<object>;
  };
  readonly memory: {
    /** What the kernel can use: a little less than what is plugged in. */
    readonly totalBytes: Fact<number>;
    /** "none", "parity", "single-bit", "multi-bit", or what else corrects errors. */
    readonly ecc: Fact<string>;
    /** Modules that are plugged in. */
    readonly dimms: ListFact<ModuleFacts>;
  };
  readonly raid: ListFact<RaidFacts>;
  readonly power: { readonly supplies: ListFact<SupplyFacts> };
  readonly nics: ListFact<LinkFacts>;
  readonly clock: {
    readonly source: Fact<string>;
    readonly timeZone: Fact<string>;
    readonly ntp: {
      /** 0: never synchronised. */
      readonly stratum: Fact<number>;
      readonly leap: Fact<string>;
      readonly offsetSeconds: Fact<number>;
    };
  };
}

export interface ModuleFacts {
  readonly sizeBytes: number;
  readonly ratedMtps: Fact<number>;
  readonly configuredMtps: Fact<number>;
}

export interface RaidFacts {
  /** 0: a plain host bus adapter. */
  readonly cacheBytes: Fact<number>;
  readonly backup: Fact<string>;
  readonly backupIsGood: Fact<boolean>;
  readonly backupState: Fact<string>;
  readonly cachesWithoutBackup: Fact<boolean>;
}

export interface SupplyFacts {
  readonly name: string;
  readonly isPresent: Fact<boolean>;
  /** Mains reach it. */
  readonly hasInput: Fact<boolean>;
  readonly isHealthy: Fact<boolean>;
}

export interface LinkFacts {
  readonly name: string;
  readonly speedMbps: Fact<number>;
  readonly hasCarrier: Fact<boolean>;
}

/** The disk under the folder that is tested; measured, not looked up. */
export interface DiskFacts {
  /** Size of the file system. */
  readonly totalBytes: Fact<number>;
  /** As the kernel sees the device. */
  readonly hasVolatileCache: Fact<boolean>;
  /** Whether what the drive confirmed survives a power cut, by evidence. */
  readonly powerLossProtection: Fact<boolean>;
  readonly isTurning: Fact<boolean>;
  /** Flushes to stable storage, one after the other. */
  readonly flushesPerSecond: Fact<number>;
  /** Random 8 KiB writes. */
  readonly writeIops: Fact<number>;
}
