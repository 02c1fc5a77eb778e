/** Single drives and arrays of the kernel: failing, and losing writes in a power cut. */
import { factValue, reasonOf, seenOf } from "../../base/fact.ts";
import type { DiskFacts, HostFacts, RaidDiskFacts } from "../host-facts.ts";
import { noCapacitors } from "../parse/nvme-ocp.ts";
import { bad, type CheckContext, good, unjudged, type Verdict } from "./verdict.ts";

export function diskFindings(host: HostFacts, context: CheckContext): Verdict[] {
  const disks = seenOf(host.disks);
  const store = recordStoreDisks(disks, context.recordStorePath);
  const verdicts = disks
    .filter((disk) => factValue(disk.media) !== "virtual")
    .flatMap((disk) => [...health(disk), ...powerLoss(disk, store.includes(disk))]);
  verdicts.push(...seenOf(host.raidDisks).flatMap(behindController));
  const hidden = reasonOf(host.raidDisks);
  if (hidden !== undefined) verdicts.push(unjudged("disk-failing", hidden));
  const reason = reasonOf(host.disks);
  if (reason !== undefined)
    for (const id of ["disk-failing", "ssd-without-power-loss-protection"])
      verdicts.push(unjudged(id, reason));
  return [...verdicts, ...arrays(host)];
}

/** The disks whose file system is the nearest above the path. */
function recordStoreDisks(disks: readonly DiskFacts[], path: string | undefined): DiskFacts[] {
  if (path === undefined) return [];
  const above = (mount: string) => mount === "/" || path === mount || path.startsWith(`${mount}/`);
  const nearest = disks
    .flatMap((disk) => disk.mountPoints)
    .filter(above)
    .reduce((best, mount) => (mount.length > best.length ? mount : best), "");
  return nearest === "" ? [] : disks.filter((disk) => disk.mountPoints.includes(nearest));
}

/** The controller decides about the caches of its drives, so that only capacitors that are known to fail are told. */
function behindController(disk: RaidDiskFacts): Verdict[] {
  return [...health(disk), ...(factValue(disk.powerLossProtection) === false ? powerLoss(disk, false) : [])];
}

function health(disk: RaidDiskFacts): Verdict[] {
  const id = "disk-failing";
  const problems = seenOf(disk.health.problems);
  const passed = factValue(disk.health.passed);
  if (problems.length > 0 || passed === false)
    return [
      bad(
        id,
        passed === false ? "critical" : "warning",
        {
          reason: passed === false ? "the drive says that it is failing" : "the drive has had errors",
          action: "replace the drive; until then keep nothing on it that exists once",
          evidence: problems.join("; ") || "its own health test failed",
        },
        disk.name,
      ),
    ];
  if (passed === true && "known" in disk.health.problems) return [good(id, "no errors counted", disk.name)];
  return [
    unjudged(id, reasonOf(disk.health.problems) ?? reasonOf(disk.health.passed) ?? "not read", disk.name),
  ];
}

function powerLoss(disk: RaidDiskFacts, isUnderStore: boolean): Verdict[] {
  const id = "ssd-without-power-loss-protection";
  const media = factValue(disk.media);
  if (media === "hdd") return [];
  const isProtected = factValue(disk.powerLossProtection);
  if (isProtected === true) return [good(id, "what it acknowledged survives a power cut", disk.name)];
  const where = isUnderStore ? "; the record store is on it" : "";
  if (isProtected === undefined)
    return [
      unjudged(
        id,
        `${reasonOf(disk.powerLossProtection)}${where}: measure it with pg_test_fsync, a protected drive does thousands of flushes a second`,
        disk.name,
      ),
    ];
  const capacitors = factValue(disk.capacitorPercent);
  const hasNone = reasonOf(disk.capacitorPercent) === noCapacitors;
  const lack = hasNone ? "not there" : "not working";
  return [
    bad(
      id,
      isUnderStore ? "critical" : "warning",
      {
        reason: isUnderStore
          ? `the record store lies on a drive whose power-loss protection is ${lack}`
          : `the drive's power-loss protection is ${lack}`,
        action: "replace the drive, or move what must not be lost to one with working capacitors",
        evidence: hasNone
          ? noCapacitors
          : capacitors === undefined
            ? "the drive's own test of its capacitors failed"
            : `its capacitors hold ${capacitors} % of what they should`,
      },
      disk.name,
    ),
  ];
}

function arrays(host: HostFacts): Verdict[] {
  const id = "md-degraded";
  const verdicts = seenOf(host.mdArrays).map((array): Verdict => {
    const [wanted, working] = [factValue(array.wanted), factValue(array.working)];
    if (array.failed.length > 0 || (wanted !== undefined && working !== undefined && working < wanted))
      return bad(
        id,
        "critical",
        {
          reason: "an array of the kernel runs without all of its drives",
          action: "replace the failed drive and add it with mdadm --add",
          evidence: `${working ?? "?"} of ${wanted ?? "?"} working; failed: ${array.failed.join(", ") || "none listed"}`,
        },
        array.name,
      );
    if (wanted === undefined || working === undefined)
      // Levels without redundancy show no count; they have nothing to lose but everything.
      return unjudged(id, reasonOf(array.wanted) ?? "no count of devices", array.name);
    return good(id, `${working} of ${wanted} working`, array.name);
  });
  const reason = reasonOf(host.mdArrays);
  return reason === undefined ? verdicts : [...verdicts, unjudged(id, reason)];
}
