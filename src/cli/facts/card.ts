/** The facts of one host in a few lines for people. */
import { type Fact, factValue, isKnown, seenOf } from "../../base/fact.ts";
import type { DiskFacts, HostFacts, RaidController, RaidDiskFacts } from "../../hardware/host-facts.ts";

/** @returns a label and a text for each line; what is not known shows as a question mark */
export function cardLines(facts: HostFacts): readonly (readonly [label: string, text: string])[] {
  const { os, cpu, memory, clock, power } = facts;
  const nodes = factValue(cpu.numaNodes);
  const dimms = seenOf(memory.dimms);
  const raid = seenOf(facts.raid);
  const bonds = seenOf(facts.bonds);
  const supplies = seenOf(power.supplies).filter((one) => factValue(one.isPresent) === true);
  const ports = seenOf(facts.nics).filter((nic) => factValue(nic.isPhysical) === true);
  return [
    [
      "system",
      list(
        `${show(os.id)} ${show(os.version)}`,
        `kernel ${show(os.kernel)}`,
        show(os.architecture),
        `systemd ${show(os.systemdVersion)}`,
        factValue(os.virtualization) === "none" ? "bare metal" : `virtualization ${show(os.virtualization)}`,
        factValue(facts.asRoot) === false && "read without root",
      ),
    ],
    [
      "processor",
      list(
        show(cpu.model),
        `${show(cpu.sockets)} socket(s)`,
        `${show(cpu.cores)} cores`,
        `${show(cpu.threads)} threads`,
        `${nodes?.length ?? "?"} NUMA node(s)`,
      ),
    ],
    [
      "memory",
      list(
        size(memory.totalBytes),
        `error correction ${show(memory.ecc)}`,
        dimms.length > 0 && `${dimms.length} modules`,
        dimms[0] !== undefined && `${show(dimms[0].configuredMtps)} of ${show(dimms[0].ratedMtps)} MT/s`,
        `huge pages ${show(facts.transparentHugePages)}`,
      ),
    ],
    ...seenOf(facts.disks).map((disk) => ["disk", diskLine(disk)] as const),
    ...raid.map((one) => ["raid", raidLine(one)] as const),
    ...(raid.length === 0
      ? [["raid", isKnown(facts.raid as Fact<unknown>) ? "no controller" : "?"] as const]
      : []),
    ...seenOf(facts.raidDisks).map((drive) => ["raid drive", raidDriveLine(drive)] as const),
    [
      "power",
      supplies.length > 0
        ? list(
            `${supplies.length} supplies present`,
            isKnown(power.redundancyStated) && power.redundancyStated.known,
          )
        : "?",
    ],
    [
      "network",
      list(
        ...ports.map((nic) =>
          factValue(nic.hasCarrier) === true
            ? `${nic.name} ${show(nic.speedMbps)} Mbit/s`
            : `${nic.name} ${factValue(nic.hasCarrier) === false ? "no carrier" : "off"}`,
        ),
        ...bonds.map((bond) => `${bond.name} ${seenOf(bond.legs).length} legs`),
        ports.length + bonds.length === 0 && "?",
      ),
    ],
    [
      "clock",
      list(
        show(clock.source),
        show(clock.timeZone),
        `hardware clock ${isKnown(clock.rtcLocal) ? (clock.rtcLocal.known ? "local" : "UTC") : "?"}`,
        `daemon ${show(clock.ntp.daemon)}`,
        isKnown(clock.ntp.stratum) && `stratum ${clock.ntp.stratum.known}`,
        isKnown(clock.ntp.offsetSeconds) && `${(clock.ntp.offsetSeconds.known * 1_000).toFixed(3)} ms off`,
        isKnown(clock.ntp.sources as Fact<unknown>) && `${seenOf(clock.ntp.sources).length} sources`,
      ),
    ],
  ];
}

function diskLine(disk: DiskFacts): string {
  const protection = factValue(disk.powerLossProtection);
  return list(
    disk.name,
    size(disk.sizeBytes),
    show(disk.media),
    isKnown(disk.model) && disk.model.known,
    show(disk.writeCache),
    `scheduler ${show(disk.scheduler)}`,
    `power-loss protection ${protection === undefined ? "?" : protection ? "yes" : "no"}`,
    disk.mountPoints.length > 0 && `on ${disk.mountPoints.join(" ")}`,
  );
}

function raidDriveLine(drive: RaidDiskFacts): string {
  const { passed, problems } = drive.health;
  const against = seenOf(problems);
  const isWell = factValue(passed) === true && isKnown(problems as Fact<unknown>) && against.length === 0;
  return list(
    drive.name,
    size(drive.sizeBytes),
    show(drive.media),
    isKnown(drive.model) && drive.model.known,
    isWell
      ? "well"
      : factValue(passed) === false
        ? "fails"
        : against.length > 0
          ? "has had errors"
          : "health ?",
  );
}

function raidLine(one: RaidController): string {
  return list(
    show(one.model),
    `cache ${size(one.cacheBytes)}`,
    `${show(one.backup)} ${show(one.backupState)}`,
    ...seenOf(one.volumes).map(
      (volume) => `${volume.name} ${show(volume.level)} ${show(volume.cachePolicy)}`,
    ),
  );
}

function list(...parts: readonly (string | false)[]): string {
  return parts.filter((part) => part !== false).join(", ");
}

function show(fact: Fact<string | number | boolean>): string {
  return isKnown(fact) ? String(fact.known) : "?";
}

function size(fact: Fact<number>): string {
  if (!isKnown(fact)) return "?";
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let value = fact.known;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${value < 10 && unit > 0 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}
