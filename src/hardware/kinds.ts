/** Saved outputs that can be read one by one: the parser of each kind, what its facts say about a host, and the checks it serves. */

import type { Fact } from "../base/fact.ts";
import { factValue, firstKnown, known, mapFact, unknown } from "../base/fact.ts";
import type { NtpSource } from "./clock-facts.ts";
import { type Examination, examine } from "./findings/examine.ts";
import { parseGathered } from "./gather/gathered.ts";
import { blame } from "./gather/section-reader.ts";
import { bestReach } from "./gather/time.ts";
import type { DiskFacts, HostFacts } from "./host-facts.ts";
import type { Output } from "./output.ts";
import { parseArcconf } from "./parse/arcconf.ts";
import {
  parseChronycActivity,
  parseChronycSources,
  parseChronycSourcestats,
} from "./parse/chronyc-sources.ts";
import { parseChronycTracking } from "./parse/chronyc-tracking.ts";
import { parseDmidecode } from "./parse/dmidecode.ts";
import { parseIpmitoolSdr } from "./parse/ipmitool-sdr.ts";
import { parseLsblk } from "./parse/lsblk.ts";
import { parseLscpu } from "./parse/lscpu.ts";
import { parseMegacli } from "./parse/megacli.ts";
import { parseNumactl } from "./parse/numactl.ts";
import { parseNvme } from "./parse/nvme.ts";
import { parseRedfishPower } from "./parse/redfish-power.ts";
import { parseSmartctl } from "./parse/smartctl.ts";
import { parseSsacli } from "./parse/ssacli.ts";
import { parseStorcli } from "./parse/storcli.ts";
import { parseTimedatectl } from "./parse/timedatectl.ts";

interface Kind<T> {
  readonly parse: (output: Output) => T;
  /** The part of a host's facts that this output tells. */
  readonly place?: (facts: T, blank: HostFacts) => HostFacts;
  /** Ids of the checks that this output can answer. */
  readonly checks: readonly string[];
}

function kind<T>(definition: Kind<T>): Kind<T> {
  return definition;
}

const raidChecks = ["raid-cache-unprotected", "raid-backup-bad", "raid-degraded"];
const diskChecks = ["disk-failing", "ssd-without-power-loss-protection"];
const powerChecks = ["single-power-supply", "power-feed-lost", "power-supply-failed", "power-not-redundant"];

const raid = (parse: (output: Output) => HostFacts["raid"]) =>
  kind({ parse, place: (facts, blank) => ({ ...blank, raid: facts }), checks: raidChecks });

const power = (parse: (output: Output) => HostFacts["power"]) =>
  kind({ parse, place: (facts, blank) => ({ ...blank, power: facts }), checks: powerChecks });

export const outputKinds = {
  storcli: raid((output) => parseStorcli(output)),
  perccli: raid((output) => parseStorcli(output, "perccli")),
  ssacli: raid(parseSsacli),
  megacli: raid(parseMegacli),
  arcconf: raid(parseArcconf),
  smartctl: kind({
    parse: parseSmartctl,
    place: (facts, blank) =>
      withDisk(blank, {
        name: factValue(facts.device)?.replace(/^\/dev\//, "") ?? "drive",
        model: facts.model,
        sizeBytes: facts.sizeBytes,
        rotational: facts.rotational,
        media: facts.media,
        powerLossProtection: facts.powerLossProtection,
        health: facts.health,
      }),
    checks: diskChecks,
  }),
  nvme: kind({
    parse: parseNvme,
    place: (facts, blank) =>
      withDisk(blank, {
        name: "drive",
        model: facts.model,
        media: known("nvme"),
        powerLossProtection: firstKnown(
          facts.ocp.powerLossProtection,
          mapFact<boolean, boolean>(
            facts.volatileWriteCache,
            () => undefined,
            factValue(facts.volatileWriteCache)
              ? "the drive has a cache that needs power and does not say whether it is protected"
              : "the drive has no cache that needs power; what the kernel makes of it is not in this output",
          ),
        ),
        capacitorPercent: facts.ocp.capacitorPercent,
        health: facts.health,
      }),
    checks: diskChecks,
  }),
  lscpu: kind({
    parse: parseLscpu,
    place: (facts, blank) => ({
      ...blank,
      cpu: facts.cpu,
      os: { ...blank.os, virtualization: facts.virtualization, architecture: facts.architecture },
    }),
    checks: ["numa-hidden"],
  }),
  dmidecode: kind({
    parse: parseDmidecode,
    place: (facts, blank) => ({
      ...blank,
      memory: { ...blank.memory, ecc: facts.ecc, dimms: facts.dimms, emptySlots: facts.emptySlots },
      power: facts.power,
    }),
    checks: [
      "memory-without-ecc",
      "memory-below-rated-speed",
      "memory-unbalanced",
      "single-power-supply",
      "power-supply-failed",
    ],
  }),
  "ipmitool-sdr": power(parseIpmitoolSdr),
  "redfish-power": power(parseRedfishPower),
  timedatectl: kind({
    parse: parseTimedatectl,
    place: (facts, blank) => ({
      ...blank,
      clock: { ...blank.clock, timeZone: facts.timeZone, rtcLocal: facts.rtcLocal },
    }),
    checks: ["rtc-in-local-time", "time-zone-not-utc"],
  }),
  "chronyc-tracking": kind({
    parse: parseChronycTracking,
    place: (facts, blank) => withNtp(blank, facts),
    checks: ["clock-not-synchronised", "clock-offset"],
  }),
  "chronyc-sources": kind({
    parse: parseChronycSources,
    place: (facts, blank) =>
      withNtp(blank, {
        sources: facts,
        reach: mapFact(facts as Fact<readonly NtpSource[]>, bestReach, "chronyd has no sources"),
      }),
    checks: ["ntp-reach", "ntp-few-sources"],
  }),
  "chronyc-sourcestats": kind({ parse: parseChronycSourcestats, checks: [] }),
  "chronyc-activity": kind({ parse: parseChronycActivity, checks: [] }),
  lsblk: kind({ parse: parseLsblk, checks: [] }),
  numactl: kind({ parse: parseNumactl, checks: [] }),
};

export type OutputKind = keyof typeof outputKinds;

export interface ReadOutput {
  readonly kind: OutputKind;
  readonly facts: unknown;
  readonly examination: Examination;
}

/** Reads one saved output and judges what it alone can tell. Never throws. */
export function readOutput(name: OutputKind, output: Output): ReadOutput {
  const { parse, place, checks } = outputKinds[name] as Kind<unknown>;
  const facts = parse(output);
  const all = place ? examine(place(facts, blankHost())) : { findings: [], unjudged: [], passed: [] };
  const served = <T extends { readonly id: string }>(list: readonly T[]) =>
    list.filter((one) => checks.includes(one.id));
  return {
    kind: name,
    facts,
    examination: {
      findings: served(all.findings),
      unjudged: served(all.unjudged),
      passed: served(all.passed),
    },
  };
}

/** A host of which nothing is known but what is put in. */
export function blankHost(reason = "not in this output"): HostFacts {
  return blame(parseGathered("", "nothing0"), reason) as HostFacts;
}

function withNtp(blank: HostFacts, some: Partial<HostFacts["clock"]["ntp"]>): HostFacts {
  return { ...blank, clock: { ...blank.clock, ntp: { ...blank.clock.ntp, ...some } } };
}

function withDisk(blank: HostFacts, some: Partial<DiskFacts> & { readonly name: string }): HostFacts {
  const no = unknown("not in this output");
  const disk: DiskFacts = {
    sizeBytes: no,
    model: no,
    transport: no,
    rotational: no,
    media: no,
    writeCache: no,
    scheduler: no,
    powerLossProtection: no,
    capacitorPercent: no,
    mountPoints: [],
    health: { passed: no, problems: no, percentUsed: no, powerOnHours: no },
    ...some,
  };
  return { ...blank, disks: known([disk]), raidDisks: known([]) };
}
