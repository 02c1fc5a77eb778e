/** Small files of /proc and /sys that the gather script reads: clock source, memory, huge pages, settings. */
import { type Fact, fromValue, unknown } from "../../base/fact.ts";
import { assignments, linesOf, type Output } from "../output.ts";
import { parseCount } from "../quantity.ts";

export interface ClockSourceFacts {
  readonly source: Fact<string>;
  readonly available: Fact<readonly string[]>;
}

/** `current=tsc` and `available=tsc hpet acpi_pm`. */
export function parseClockSource(output: Output): ClockSourceFacts {
  const fields = assignments(output);
  const available = fields.get("available")?.split(/\s+/).filter(Boolean);
  return {
    source: fromValue(fields.get("current") || undefined, "the kernel shows no clock source"),
    available: fromValue(available?.length ? available : undefined, "the kernel lists no clock sources"),
  };
}

/** /proc/meminfo: "MemTotal:       16314092 kB", where kB are 1,024 bytes. */
export function parseMeminfo(output: Output): { totalBytes: Fact<number>; swapBytes: Fact<number> } {
  const field = (name: string) => {
    for (const line of linesOf(output)) {
      const match = new RegExp(`^${name}:\\s+(\\d{1,12}) kB$`).exec(line.trimEnd());
      if (match) return Number(match[1]) * 1024;
    }
    return undefined;
  };
  return {
    totalBytes: fromValue(field("MemTotal") || undefined, "/proc/meminfo has no MemTotal"),
    swapBytes: fromValue(field("SwapTotal"), "/proc/meminfo has no SwapTotal"),
  };
}

/** /sys/kernel/mm/transparent_hugepage/enabled: "always [madvise] never". */
export function parseHugePages(output: Output): Fact<"always" | "madvise" | "never"> {
  const mode = /^.*\[(always|madvise|never)\]/.exec(linesOf(output)[0] ?? "")?.[1];
  return fromValue(
    mode as "always" | "madvise" | "never" | undefined,
    "the kernel shows no mode of transparent huge pages",
  );
}

/** `vm.swappiness=10` lines, tabs in a value made single spaces. */
export function parseSysctl(output: Output): Record<string, Fact<string>> {
  const found: Record<string, Fact<string>> = {};
  for (const [name, value] of assignments(output))
    found[name] =
      value === "" ? unknown(`the kernel shows no ${name}`) : { known: value.replace(/\s+/g, " ") };
  return found;
}

/** `node=0`, `cpus=0-3`, `memory=16314092` (kB) in groups that begin with `node`. */
export function parseNodes(output: Output): { id: number; cpus: string; memoryKb: number | undefined }[] {
  const nodes: { id: number; cpus: string; memoryKb: number | undefined }[] = [];
  for (const line of linesOf(output)) {
    const match = /^(node|cpus|memory)=(.*)$/.exec(line);
    if (!match) continue;
    const [, key, value = ""] = match;
    const id = parseCount(value);
    if (key === "node") {
      if (id !== undefined) nodes.push({ id, cpus: "", memoryKb: undefined });
      continue;
    }
    const node = nodes.at(-1);
    if (!node) continue;
    if (key === "cpus") node.cpus = value.trim();
    else node.memoryKb = parseCount(value);
  }
  return nodes;
}
