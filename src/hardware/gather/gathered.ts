/** From the reply to the gather script to the facts of one host. Never throws: what did not arrive is unknown. */
import {
  type Fact,
  firstKnown,
  isKnown,
  known,
  type ListFact,
  listFact,
  mapFact,
  seenOf,
  unknown,
} from "../../base/fact.ts";
import type { CpuFacts, HostFacts, NumaNode, PowerFacts, RaidController } from "../host-facts.ts";
import { parseArcconf } from "../parse/arcconf.ts";
import { parseBonding } from "../parse/bonding.ts";
import { parseNics } from "../parse/device-files.ts";
import { parseDmidecode } from "../parse/dmidecode.ts";
import { parseIpmitoolSdr } from "../parse/ipmitool-sdr.ts";
import { parseHugePages, parseMeminfo, parseNodes, parseSysctl } from "../parse/kernel.ts";
import { parseLscpu } from "../parse/lscpu.ts";
import { parseMdstat } from "../parse/mdstat.ts";
import { parseMegacli } from "../parse/megacli.ts";
import { parseSsacli } from "../parse/ssacli.ts";
import { parseStorcli } from "../parse/storcli.ts";
import { parseOsRelease, parseSystemdVersion, parseUname } from "../parse/system.ts";
import { parseCpuList } from "../quantity.ts";
import { sysctlNames } from "./commands.ts";
import { disksOf } from "./disks.ts";
import { readFrame } from "./frame.ts";
import { raidDisksOf } from "./raid-disks.ts";
import { type SectionReader, sectionReader } from "./section-reader.ts";
import { clockOf } from "./time.ts";

/** @param nonce the one that `gatherScript` was made with */
export function parseGathered(text: string, nonce: string): HostFacts {
  const frame = readFrame(text, nonce);
  const reader = sectionReader(frame);
  const uname = reader.read("uname", parseUname);
  const release = reader.read("os-release", parseOsRelease);
  const [json, plain] = [reader.read("lscpu", parseLscpu), reader.read("lscpu-text", parseLscpu)];
  const dmi = reader.read("dmidecode", parseDmidecode);
  const memory = reader.read("meminfo", parseMeminfo);
  const nics = reader.output("nics");
  const detected = firstLine(reader, "virtualization");
  return {
    isComplete: frame.problem === undefined ? known(true) : unknown(frame.problem),
    hostName: uname.hostName,
    asRoot:
      frame.uid === undefined ? unknown("the host did not say as whom it read") : known(frame.uid === 0),
    os: {
      id: release.id,
      version: release.version,
      kernel: uname.kernel,
      architecture: uname.architecture,
      systemdVersion: reader.read("systemd", parseSystemdVersion),
      virtualization: firstKnown(detected, json.virtualization, plain.virtualization),
      bootId: firstLine(reader, "boot-id"),
    },
    cpu: cpuOf(reader, json.cpu, plain.cpu),
    memory: { ...memory, ecc: dmi.ecc, dimms: dmi.dimms, emptySlots: dmi.emptySlots },
    disks: disksOf(reader),
    mdArrays: mdArraysOf(reader),
    raid: raidOf(reader),
    raidDisks: raidDisksOf(reader),
    power: powerOf(reader.read("ipmitool", parseIpmitoolSdr), dmi.power),
    nics:
      typeof nics === "string"
        ? unknown(nics)
        : listFact(parseNics(nics), nics.isWhole, "the list of ports was cut"),
    bonds: reader.read("bonds", parseBonding),
    clock: clockOf(reader),
    sysctl: sysctlOf(reader),
    transparentHugePages: reader.read("huge-pages", parseHugePages),
  };
}

function firstLine(reader: SectionReader, name: string): Fact<string> {
  const output = reader.output(name);
  if (typeof output === "string") return unknown(output);
  const line = output.text.split("\n")[0]?.trim();
  return line ? known(line) : unknown(`${name}: nothing was printed`);
}

function cpuOf(reader: SectionReader, json: CpuFacts, plain: CpuFacts): CpuFacts {
  const output = reader.output("nodes");
  const nodes = typeof output === "string" ? [] : parseNodes(output);
  const read: NumaNode[] = nodes.flatMap(({ id, cpus, memoryKb }) => {
    const list = parseCpuList(cpus);
    return list === undefined
      ? []
      : [
          {
            id,
            cpus: list,
            memoryBytes:
              memoryKb === undefined ? unknown(`node ${id} shows no memory`) : known(memoryKb * 1024),
          },
        ];
  });
  const sysfs: ListFact<NumaNode> =
    typeof output === "string"
      ? unknown(output)
      : listFact(read, read.length > 0 && read.length === nodes.length, "the kernel shows no nodes");
  return {
    model: firstKnown(json.model, plain.model),
    sockets: firstKnown(json.sockets, plain.sockets),
    cores: firstKnown(json.cores, plain.cores),
    threads: firstKnown(json.threads, plain.threads),
    numaNodes: firstKnown<readonly NumaNode[]>(sysfs, json.numaNodes, plain.numaNodes),
  };
}

function mdArraysOf(reader: SectionReader): HostFacts["mdArrays"] {
  // The file is there as soon as the driver is; without the driver there are no arrays.
  if (/no such file/i.test(reader.frame.sections.get("mdstat")?.complaint ?? "")) return known([]);
  return reader.read("mdstat", parseMdstat);
}

/** A card on the bus that no tool speaks for is unknown, never absent. */
function raidOf(reader: SectionReader): ListFact<RaidController> {
  const lists = [
    reader.read("storcli", parseStorcli),
    reader.read("perccli", (output) => parseStorcli(output, "perccli")),
    reader.read("ssacli", parseSsacli),
    reader.read("arcconf", parseArcconf),
    megacliOf(reader),
  ];
  const cards = reader.output("raid-cards");
  const found: RaidController[] = [];
  for (const list of lists) {
    // storcli, perccli and megacli speak to the same cards: the first that finds any counts.
    const isMegaraid = (one: RaidController) => ["storcli", "perccli", "megacli"].includes(one.tool);
    const controllers = seenOf(list);
    if (controllers.some(isMegaraid) && found.some(isMegaraid)) continue;
    found.push(...controllers);
  }
  if (typeof cards === "string") return listFact(found, false, cards);
  if (!/^bus$/m.test(cards.text)) return listFact(found, found.length > 0, "the kernel shows no PCI bus");
  const onBus = cards.text.split("\n").filter((line) => line.startsWith("raid ")).length;
  const failed = lists.flatMap((list) => ("unknown" in list && list.seen ? [list.unknown] : []));
  const reasons = [...new Set(lists.flatMap((list) => ("unknown" in list ? [list.unknown] : [])))].join("; ");
  if (found.length < onBus)
    return listFact(found, false, `${onBus} RAID controller(s) on the bus, ${found.length} read: ${reasons}`);
  return listFact(found, failed.length === 0, failed.join("; "));
}

function megacliOf(reader: SectionReader): ListFact<RaidController> {
  const [battery, volumes] = [reader.output("megacli"), reader.output("megacli-volumes")];
  if (typeof battery === "string" && typeof volumes === "string") return unknown(battery);
  const text = [battery, volumes].map((one) => (typeof one === "string" ? "" : one.text)).join("\n");
  return parseMegacli({ text, isWhole: typeof battery !== "string" && typeof volumes !== "string" });
}

/** The management controller watches supplies; the firmware's table only lists some of them. */
function powerOf(bmc: PowerFacts, dmi: PowerFacts): PowerFacts {
  if (isKnown(bmc.supplies) || seenOf(bmc.supplies).length > 0) return bmc;
  const both = `${"unknown" in bmc.supplies ? bmc.supplies.unknown : ""}; ${"unknown" in dmi.supplies ? dmi.supplies.unknown : ""}`;
  return {
    source: dmi.source,
    supplies: isKnown(dmi.supplies) ? dmi.supplies : listFact(seenOf(dmi.supplies), false, both),
    redundancyStated: firstKnown(bmc.redundancyStated, dmi.redundancyStated),
    peakWatts: firstKnown(bmc.peakWatts, dmi.peakWatts),
  };
}

function sysctlOf(reader: SectionReader): Record<string, Fact<string>> {
  const read = reader.read(
    "sysctl",
    (output) => known(parseSysctl(output)) as Fact<Record<string, Fact<string>>>,
  );
  const output = reader.output("sysctl");
  return Object.fromEntries(
    sysctlNames.map((name): [string, Fact<string>] => {
      if (typeof output === "string") return [name, unknown(output)];
      const value = mapFact(read, (all) => (Object.hasOwn(all, name) ? all[name] : undefined), "");
      return [name, isKnown(value) ? value.known : unknown(`this kernel has no ${name}`)];
    }),
  );
}
