/** Turns what the kernel and the machine's tools print into the facts that acceptance looks at. */

import { type Fact, fromValue, unknown } from "../../base/fact.ts";
import { parseCores, parseNumaNodes, parseSockets } from "./cpu-text.ts";
import type { LinkFacts, MachineFacts, ModuleFacts, SupplyFacts } from "./machine-facts.ts";
import { type RaidReadings, raidFacts } from "./raid-text.ts";
import type { Reading } from "./verdict.ts";

/** Everything that is read on the machine; what could not be read says why. */
export interface MachineReadings extends RaidReadings {
  /** /proc/cpuinfo */
  readonly cpuinfo: Reading;
  /** /sys/devices/system/node/online */
  readonly numaOnline: Reading;
  /** /proc/meminfo */
  readonly meminfo: Reading;
  /** `dmidecode -t 16`, `-t 17`, `-t 39` */
  readonly memoryArrays: Reading;
  readonly memoryModules: Reading;
  readonly powerSupplies: Reading;
  /** Memory controllers that the kernel watches for errors, names with spaces between. */
  readonly edac: Reading;
  /** `ipmitool -c sdr type "Power Supply"`; its third column says ok even for a supply without input. */
  readonly sdr: Reading;
  /** Name, carrier (0 or 1) and speed in Mbit/s of every network interface, one a line. */
  readonly links: Reading;
  readonly clockSource: Reading;
  readonly timeZone: Reading;
  /** `chronyc -n -c tracking` */
  readonly tracking: Reading;
}

export function machineFacts(readings: MachineReadings): MachineFacts {
  return {
    cpu: cpuFacts(readings),
    memory: memoryFacts(readings),
    raid: raidFacts(readings),
    power: { supplies: supplyFacts(readings) },
    nics: linkFacts(readings.links),
    clock: {
      source: wordOf(readings.clockSource, "the kernel names no clock source"),
      timeZone: wordOf(readings.timeZone, "the system names no time zone"),
      ntp: ntpFacts(readings.tracking),
    },
  };
}

function wordOf({ text, reason }: Reading, otherwise: string): Fact<string> {
  return fromValue(text?.trim() || undefined, reason || otherwise);
}

export function cpuFacts({
  cpuinfo,
  numaOnline,
}: Pick<MachineReadings, "cpuinfo" | "numaOnline">): MachineFacts["cpu"] {
  const parsed = <T>({ text, reason }: Reading, parse: (text: string) => T | undefined, otherwise: string) =>
    fromValue(text === undefined ? undefined : parse(text), reason || otherwise);
  const nodes = parsed(numaOnline, parseNumaNodes, "the kernel does not tell the NUMA nodes");
  return {
    cores: parsed(cpuinfo, parseCores, "the kernel lists no processor"),
    sockets: parsed(cpuinfo, parseSockets, "the kernel does not tell the sockets"),
    numaNodes: "known" in nodes ? { known: Array.from({ length: nodes.known }, () => ({})) } : nodes,
  };
}

type MemoryReadings = Pick<MachineReadings, "memoryArrays" | "memoryModules" | "meminfo" | "edac">;

export function memoryFacts({
  memoryArrays,
  memoryModules,
  meminfo,
  edac,
}: MemoryReadings): MachineFacts["memory"] {
  const kilobytes = /^MemTotal:\s*(\d+)\s*kB/m.exec(meminfo.text ?? "")?.[1];
  return {
    totalBytes: fromValue(
      kilobytes === undefined ? undefined : Number(kilobytes) * 1_024,
      meminfo.reason || "the kernel does not tell its memory",
    ),
    ecc: eccFact(memoryArrays, edac),
    dimms:
      memoryModules.text === undefined
        ? unknown(memoryModules.reason)
        : { known: parseModules(memoryModules.text) },
  };
}

function eccFact(arrays: Reading, edac: Reading): Fact<string> {
  const types = [...(arrays.text ?? "").matchAll(/^\s*Error Correction Type:\s*(.+)$/gm)].map(([, type]) =>
    type!.trim().toLowerCase().replace(/ ecc$/, ""),
  );
  const correcting = types.find((type) => /^(single|multi)-bit$/.test(type));
  if (correcting !== undefined) return { known: correcting };
  const [first] = types;
  if (first !== undefined && types.every((type) => /^(none|parity)$/.test(type))) return { known: first };
  const watched = edac.text?.trim().split(/\s+/).join(", ");
  if (watched) return { known: `the kernel watches ${watched}` };
  return unknown(
    types.length > 0 ? `the firmware says ${types.join(", ")}` : `${arrays.reason}; ${edac.reason}`,
  );
}

/** Modules that are there, out of `dmidecode -t 17`. */
export function parseModules(text: string): ModuleFacts[] {
  return text
    .split(/\n\s*\n/)
    .filter((block) => /Memory Device/.test(block))
    .flatMap((block) => {
      const size = /^\s*Size:\s*(\d+)\s*(kB|MB|GB|TB)/m.exec(block);
      if (!size) return [];
      const scale = { kB: 2 ** 10, MB: 2 ** 20, GB: 2 ** 30, TB: 2 ** 40 };
      return [
        {
          sizeBytes: Number(size[1]) * scale[size[2] as keyof typeof scale],
          ratedMtps: speed(block, "Speed"),
          configuredMtps: speed(block, "Configured (?:Memory|Clock) Speed"),
        },
      ];
    });
}

function speed(block: string, label: string): Fact<number> {
  const value = new RegExp(`^\\s*${label}:\\s*(\\d+)\\s*(?:MT/s|MHz)`, "m").exec(block)?.[1];
  return fromValue(value === undefined ? undefined : Number(value), "the firmware does not tell the speed");
}

const noInput = /AC lost|input lost|out-of-range/i;
const failing = /Failure detected|Predictive failure|Config Error/i;

/** The management controller's list; else the firmware's, in which most machines list nothing: it is never taken for whole. */
export function supplyFacts({
  sdr,
  powerSupplies,
}: Pick<MachineReadings, "sdr" | "powerSupplies">): MachineFacts["power"]["supplies"] {
  const rows = (sdr.text ?? "")
    .split("\n")
    .map((line) => line.split(","))
    .filter((row) => row.length >= 5)
    .map((row): SupplyFacts => {
      const state = row.slice(4).join(",").trim();
      const isTold = /Presence detected/i.test(state) || noInput.test(state) || failing.test(state);
      const fact = (value: boolean) => (isTold ? { known: value } : unknown("no state is told"));
      return {
        name: `${row[0]!.trim()} (${state || "no state"})`,
        isPresent: fact(true),
        hasInput: fact(!noInput.test(state)),
        isHealthy: fact(!failing.test(state)),
      };
    });
  if (rows.some(({ isPresent }) => "known" in isPresent)) return { known: rows };
  const why = `the management controller was not read (${sdr.reason || "it names no presence"})`;
  if (powerSupplies.text === undefined) return unknown(`${why}; ${powerSupplies.reason}`);
  const seen = powerSupplies.text
    .split(/\n\s*\n/)
    .filter((block) => block.includes("System Power Supply"))
    .map((block, i): SupplyFacts => {
      const status = /^\s*Status:\s*(.+)$/m.exec(block)?.[1]?.trim() ?? "";
      const health = /OK/i.test(status) ? true : /Critical/i.test(status) ? false : undefined;
      return {
        name: `supply ${i + 1} of the firmware's list`,
        isPresent: { known: /^Present/i.test(status) },
        hasInput: unknown("the firmware does not tell"),
        isHealthy: fromValue(health, `the firmware says ${status || "nothing"}`),
      };
    });
  return { unknown: why, seen };
}

export function linkFacts({ text, reason }: Reading): MachineFacts["nics"] {
  if (text === undefined) return unknown(reason);
  const lines = text
    .trim()
    .split("\n")
    .map((line) => line.split(/\s+/));
  return {
    known: lines.map(
      ([name = "", carrier, speedText]): LinkFacts => ({
        name,
        hasCarrier: fromValue(
          carrier === "1" ? true : carrier === "0" ? false : undefined,
          "the link does not tell",
        ),
        speedMbps: fromValue(
          Number(speedText) > 0 ? Number(speedText) : undefined,
          "the link does not tell its speed",
        ),
      }),
    ),
  };
}

/** A daemon that never synchronised prints an offset of 0, so stratum and leap are read too. */
export function ntpFacts(tracking: Reading): MachineFacts["clock"]["ntp"] {
  const text = tracking.text?.trim();
  const fields = text?.split("\n").at(-1)?.split(",") ?? [];
  if (!text || fields.length < 14 || !Number.isFinite(Number(fields[4]))) {
    const fact = unknown(
      text
        ? `chronyc printed ${JSON.stringify(text.slice(0, 80))}`
        : tracking.reason || "chronyc printed nothing",
    );
    return { stratum: fact, leap: fact, offsetSeconds: fact };
  }
  return {
    stratum: { known: Number(fields[2]) },
    leap: { known: fields[13]!.trim() },
    offsetSeconds: { known: Number(fields[4]) },
  };
}
