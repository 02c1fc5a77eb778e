/** RAID controllers: caches that lose writes, batteries that are bad, volumes that are degraded. */
import { factValue, reasonOf, seenOf } from "../../base/fact.ts";
import type { HostFacts, RaidController } from "../host-facts.ts";
import { bad, good, unjudged, type Verdict } from "./verdict.ts";

export function raidFindings(host: HostFacts): Verdict[] {
  const verdicts = seenOf(host.raid).flatMap((one, index) => {
    const name = `${one.tool} ${factValue(one.model) ?? index}`;
    return [...cache(one, name), ...backup(one, name), ...volumes(one, name)];
  });
  const reason = reasonOf(host.raid);
  // One cut list stands for every check that may miss a controller.
  if (reason !== undefined)
    for (const id of ["raid-cache-unprotected", "raid-backup-bad", "raid-degraded"])
      verdicts.push(unjudged(id, reason));
  return verdicts;
}

function cache(one: RaidController, name: string): Verdict[] {
  const id = "raid-cache-unprotected";
  if (factValue(one.cacheBytes) === 0) return [good(id, "the controller has no cache", name)];
  const caches = factValue(one.cachesWithoutBackup);
  const always = seenOf(one.volumes).filter(
    (volume) => factValue(volume.cachePolicy) === "always write back",
  );
  if (caches === true || always.length > 0)
    return [
      bad(
        id,
        "critical",
        {
          reason:
            "the controller keeps acknowledged writes in its cache even when nothing protects the cache",
          action:
            "set the write policy to write back with battery only (storcli: wrcache=wb; ssacli: nobatterywritecache=disable; megacli: -NoCachedBadBBU)",
          evidence:
            always.length > 0
              ? `always write back: ${always.map((volume) => volume.name).join(", ")}; backup: ${factValue(one.backupState) ?? "state unknown"}`
              : `writes are cached without a backup; backup: ${factValue(one.backupState) ?? "state unknown"}`,
        },
        name,
      ),
    ];
  const policies = factValue(one.volumes)?.map((volume) => factValue(volume.cachePolicy));
  if (policies?.every((policy) => policy === "write through"))
    return [good(id, "every volume is in write through", name)];
  if (caches === false) return [good(id, "without a good backup the controller writes through", name)];
  return [
    unjudged(id, reasonOf(one.cachesWithoutBackup) ?? reasonOf(one.volumes) ?? "no policy was read", name),
  ];
}

function backup(one: RaidController, name: string): Verdict[] {
  const id = "raid-backup-bad";
  if (factValue(one.cacheBytes) === 0) return [];
  const isGood = factValue(one.backupIsGood);
  const state = factValue(one.backupState) ?? factValue(one.backup) ?? "";
  if (isGood === undefined) return [unjudged(id, reasonOf(one.backupIsGood) ?? "", name)];
  if (isGood) {
    const learn = factValue(one.nextLearn);
    return [
      good(id, `${state}${learn ? `, next learn cycle ${learn} (write through while it lasts)` : ""}`, name),
    ];
  }
  const isSafe = factValue(one.cachesWithoutBackup) === false;
  return [
    bad(
      id,
      isSafe ? "warning" : "critical",
      {
        reason: isSafe
          ? "the battery or capacitor of the controller is bad, so every write waits for the disks"
          : "the battery or capacitor of the controller is bad, and nobody can tell that its cache is off",
        action: "replace the battery or capacitor; until then take the host out of the record store's hosts",
        evidence: `${factValue(one.backup) ?? "backup"}: ${state || "bad"}`,
      },
      name,
    ),
  ];
}

function volumes(one: RaidController, name: string): Verdict[] {
  const id = "raid-degraded";
  const degraded = seenOf(one.volumes).filter((volume) => factValue(volume.isHealthy) === false);
  const controller = factValue(one.isHealthy);
  if (degraded.length > 0 || controller === false)
    return [
      bad(
        id,
        "critical",
        {
          reason:
            degraded.length > 0
              ? "a volume has lost drives, so the next one lost may take the data with it"
              : "the controller says that it is not well",
          action: "replace the failed drive and wait for the rebuild before the host carries load",
          evidence:
            degraded.length > 0 ? degraded.map((volume) => volume.name).join(", ") : "controller state",
        },
        name,
      ),
    ];
  const list = factValue(one.volumes);
  if (list?.every((volume) => factValue(volume.isHealthy) === true))
    return [good(id, `${list.length} volume(s) healthy`, name)];
  return [unjudged(id, reasonOf(one.volumes) ?? "a volume shows no state", name)];
}
