/** Applies parsers to sections of a frame; where a section is not to be had, everything in the result is unknown for that reason. */
import type { Output } from "../output.ts";
import { type Frame, outputOf } from "./frame.ts";

export interface SectionReader {
  readonly frame: Frame;
  /** The parser's result, or the same shape with the section's own reason in place of every fact. */
  read<T>(name: string, parse: (output: Output) => T): T;
  /** The text, or the reason why there is none. */
  output(name: string): Output | string;
  /** What follows `PREFIX:` in the names of sections. */
  disksOf(prefix: string): string[];
}

export function sectionReader(frame: Frame): SectionReader {
  return {
    frame,
    read: (name, parse) => {
      const output = outputOf(frame, name, programOf(name));
      return typeof output === "string" ? allUnknown(parse, output) : parse(output);
    },
    output: (name) => outputOf(frame, name, programOf(name)),
    disksOf: (prefix) =>
      [...frame.sections.keys()]
        .filter((name) => name.startsWith(`${prefix}:`))
        .map((name) => name.slice(prefix.length + 1)),
  };
}

const programs: Readonly<Record<string, string>> = {
  "nvme-id": "nvme",
  "nvme-smart": "nvme",
  "nvme-ocp": "nvme ocp",
  "smartctl-raid": "smartctl",
  "raid-disks": "the search for drives behind RAID controllers",
  "chronyc-tracking": "chronyc",
  "chronyc-sources": "chronyc",
  "megacli-volumes": "megacli",
  "lscpu-text": "lscpu",
  systemd: "systemctl",
};

function programOf(section: string): string {
  const name = section.split(":")[0]!;
  return programs[name] ?? name;
}

/** What a parser says about nothing at all, with one reason for everything. */
export function allUnknown<T>(parse: (output: Output) => T, reason: string): T {
  return blame(parse({ text: "", isWhole: false }), reason) as T;
}

/** Puts one reason in place of every fact of a structure. */
export function blame(value: unknown, reason: string): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((one) => blame(one, reason));
  if ("unknown" in value) return { unknown: reason };
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, blame(one, reason)]));
}
