/** The drives behind RAID controllers, of the sections that raid-disk-script.ts writes. */
import { type ListFact, listFact, unknown } from "../../base/fact.ts";
import type { RaidDiskFacts } from "../host-facts.ts";
import { asNumber, at, jsonIn } from "../json.ts";
import { linesOf, type Output } from "../output.ts";
import { parseSmartctl } from "../parse/smartctl.ts";
import type { SectionReader } from "./section-reader.ts";

/** They call themselves RAID controllers, and the kernel sees every drive. */
const hidesNothing: readonly string[] = ["ahci", "vmd", "nvme"];

export function raidDisksOf(reader: SectionReader): ListFact<RaidDiskFacts> {
  const output = reader.output("raid-disks");
  if (typeof output === "string") return unknown(output);
  const rows = linesOf(output).map((line) => line.split(" "));
  const of = (word: string) => rows.filter(([first]) => first === word).map(([, ...rest]) => rest);
  const found = of("disk").map(([number = "", type = "", device = ""]) => {
    const drive = driveOf(reader, `smartctl-raid:${number}`, `${type} ${device}`);
    return { type, drive };
  });
  const drives = found.flatMap(({ drive }) => drive ?? []);
  const cards = of("card").flat();
  const reasons = [...new Set(cards)]
    .filter((driver) => !hidesNothing.includes(driver))
    .flatMap((driver) => whyNotAll(driver, reader, { of, types: found.map(({ type }) => type) }) ?? []);
  if (of("late").length > 0) reasons.push("not every drive behind the RAID controllers was asked in time");
  if (of("bus").length === 0) reasons.push("the kernel shows no PCI bus");
  return listFact(drives, reasons.length === 0, reasons.join("; "));
}

/** What smartctl calls the drives of a driver. */
const types: Readonly<Record<string, string>> = {
  megaraid_sas: "megaraid,",
  hpsa: "cciss,",
  smartpqi: "cciss,",
  arcmsr: "areca,",
};

interface Found {
  /** The words behind the first one of every line that begins with it. */
  readonly of: (word: string) => readonly (readonly string[])[];
  /** Of the drives that were asked. */
  readonly types: readonly string[];
}

/** Undefined: all drives behind the controllers of this driver were asked. */
function whyNotAll(driver: string, reader: SectionReader, found: Found): string | undefined {
  if (driver === "none") return "no driver has the RAID controller";
  const type = Object.hasOwn(types, driver) ? types[driver]! : undefined;
  if (type === undefined) return `nothing here knows how to ask the drives behind ${driver}`;
  if (found.of("tool").length > 0) return "smartctl: not installed";
  // Without root the list is empty, and nobody says why.
  if (reader.frame.uid !== 0) return "smartctl: needs root";
  const failed = found.of("failed").find(([of]) => of === driver);
  if (failed)
    return failed[1] === "nodevice"
      ? `there is no device to reach the drives behind ${driver} by`
      : `smartctl --scan ended with ${failed[1]}`;
  const cards = found.of("card").filter(([of]) => of === driver).length;
  const asked = found.of("asked").filter(([of]) => of === driver).length;
  // One scan is for all cards of that driver.
  if (asked < (driver === "megaraid_sas" ? 1 : cards))
    return `the drives behind ${driver} were not asked to the end`;
  return found.types.some((one) => one.startsWith(type))
    ? undefined
    : `smartctl finds no drive behind ${driver}`;
}

/** Undefined: it is something else than a drive, such as an enclosure. */
function driveOf(reader: SectionReader, section: string, name: string): RaidDiskFacts | undefined {
  const output = reader.output(section);
  if (typeof output !== "string" && isOther(output)) return undefined;
  const smart = reader.read(section, parseSmartctl);
  const { model, sizeBytes, media, powerLossProtection, health } = smart;
  const capacitorPercent = unknown("only NVMe drives are asked for it");
  return { name, model, sizeBytes, media, powerLossProtection, capacitorPercent, health };
}

/** Types of SCSI: 0 and 14 are disks. */
function isOther(output: Output): boolean {
  const json = jsonIn(output);
  const type = "known" in json ? asNumber(at(json.known, "device_type", "scsi_value")) : undefined;
  return type !== undefined && type !== 0 && type !== 14;
}
