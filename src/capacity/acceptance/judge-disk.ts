/** Disk: room, cache, flushes, writes; the RAID controller's cache; the network. */

import { factValue, seenOf, whyUnknown } from "../../base/fact.ts";
import { decimalBytes } from "../format.ts";
import { suspicion } from "../iops/media.ts";
import type { DiskFacts, MachineFacts, RaidFacts } from "./machine-facts.ts";
import { fail, pass, passIf, unknown, type Verdict } from "./verdict.ts";

export function judgeCapacity({ totalBytes }: DiskFacts, leastBytes: number): Verdict {
  const bytes = factValue(totalBytes);
  if (bytes === undefined) return unknown(whyUnknown(totalBytes));
  return passIf(bytes >= leastBytes, `${decimalBytes(bytes)} on the file system`);
}

/** A cache that the kernel calls "write back" may still be protected: evidence about the drive decides, if there is any. */
export function judgeWriteCache({ hasVolatileCache, powerLossProtection }: DiskFacts): Verdict {
  const isProtected = factValue(powerLossProtection);
  if (isProtected === true) return pass("the drive keeps what it confirmed");
  const isVolatile = factValue(hasVolatileCache);
  if (isVolatile === false) return pass("no volatile write cache");
  if (isVolatile === undefined) return unknown(whyUnknown(hasVolatileCache));
  if (isProtected === false) return fail("a write-back cache without protection");
  return unknown(
    "the drive has a write-back cache; whether it is protected cannot be seen here: compare the flush rate, ask the maker",
  );
}

export function judgeFlushRate({ flushesPerSecond, isTurning }: DiskFacts, least: number): Verdict {
  const rate = factValue(flushesPerSecond);
  if (rate === undefined) return unknown(whyUnknown(flushesPerSecond));
  const lie = suspicion(factValue(isTurning) === true, rate, false);
  if (lie) return fail(lie);
  return passIf(rate >= least, `${Math.round(rate)} flushes a second`);
}

export function judgeWriteIops({ writeIops }: DiskFacts, least: number): Verdict {
  const rate = factValue(writeIops);
  if (rate === undefined) return unknown(whyUnknown(writeIops));
  return passIf(rate >= least, `${Math.round(rate)} writes a second`);
}

/** Every controller that caches must keep its cache alive, and stop caching when it cannot. */
export function judgeRaidCache(raid: MachineFacts["raid"]): Verdict {
  const caching = seenOf(raid).filter(({ cacheBytes }) => factValue(cacheBytes) !== 0);
  const troubles = caching.flatMap((one) => troubleOf(one) ?? []);
  if (troubles.length > 0) return fail(troubles.join("; "));
  if (!("known" in raid)) return unknown(raid.unknown);
  if (raid.known.length === 0) return fail("no RAID controller is there");
  if (caching.length === 0) return fail("the controller has no cache");
  const open = caching.flatMap(({ backupIsGood, cachesWithoutBackup }) =>
    [whyUnknown(backupIsGood), whyUnknown(cachesWithoutBackup)].filter((reason) => reason !== ""),
  );
  return open.length > 0
    ? unknown([...new Set(open)].join("; "))
    : pass("battery or capacitor in order, no volume caches without it");
}

function troubleOf({
  backup,
  backupIsGood,
  backupState,
  cachesWithoutBackup,
}: RaidFacts): string | undefined {
  if (factValue(cachesWithoutBackup) === true) return "writes are cached even without a good battery";
  if (factValue(backup) === "none") return "the controller shows neither capacitor nor battery";
  if (factValue(backupIsGood) === false)
    return `capacitor or battery: ${factValue(backupState) ?? "not in order"}`;
  return undefined;
}

/** The fastest link that is up. */
export function judgeNetworkSpeed(nics: MachineFacts["nics"], leastGigabits: number): Verdict {
  const up = seenOf(nics).filter(({ name, hasCarrier }) => name !== "lo" && factValue(hasCarrier) === true);
  const speeds = up
    .map(({ name, speedMbps }) => ({ name, speed: factValue(speedMbps) ?? 0 }))
    .filter(({ speed }) => speed > 0);
  if (speeds.length === 0)
    return unknown(
      up.length > 0 ? "no link that is up tells its speed" : whyUnknown(nics) || "no link is up",
    );
  const best = speeds.reduce((most, one) => (one.speed > most.speed ? one : most));
  const seen = `${best.name} at ${best.speed / 1_000} Gbit/s`;
  if (best.speed >= leastGigabits * 1_000) return pass(seen);
  return speeds.length === up.length && "known" in nics
    ? fail(seen)
    : unknown(`${seen}; not every link tells`);
}
