/** `lsblk -J -b` (old and new types of values) and `lsblk -P -b`. */
import { type Fact, fromValue, known, type ListFact, listFact, unknown } from "../../base/fact.ts";
import { asArray, asBoolean, asNumber, asText, at, jsonIn } from "../json.ts";
import { linesOf, mayBeCut, type Output } from "../output.ts";

export interface BlockDevice {
  readonly name: string;
  /** "disk", "part", "lvm", "raid1", "crypt", "loop", "rom". */
  readonly type: string;
  readonly sizeBytes: Fact<number>;
  readonly rotational: Fact<boolean>;
  readonly model: Fact<string>;
  /** null behind most RAID controllers. */
  readonly transport: Fact<string>;
  /** Of the device and everything built on it. */
  readonly mountPoints: readonly string[];
}

export function parseLsblk(output: Output): ListFact<BlockDevice> {
  if (/^\s*NAME="/m.test(output.text)) return fromPairs(output);
  const json = jsonIn(output);
  if ("unknown" in json) return unknown(`lsblk: ${json.unknown}`);
  const rows = at(json.known, "blockdevices");
  if (!Array.isArray(rows)) return unknown("lsblk: the document lists no devices");
  const found = new Map<string, BlockDevice>();
  for (const row of rows) collect(row, found);
  return known([...found.values()]);
}

/** Adds a device and all below it; returns the mount points of both. A device with two parents is listed twice and kept once. */
function collect(row: unknown, found: Map<string, BlockDevice>): readonly string[] {
  const name = asText(at(row, "name"));
  const below = asArray(at(row, "children")).flatMap((child) => collect(child, found));
  if (name === undefined) return below;
  const own = [at(row, "mountpoint"), ...asArray(at(row, "mountpoints"))].flatMap((one) => asText(one) ?? []);
  const mountPoints = [...new Set([...own, ...below])];
  found.set(
    name,
    device(name, (field) => at(row, field), mountPoints),
  );
  return mountPoints;
}

function device(name: string, field: (name: string) => unknown, mountPoints: readonly string[]): BlockDevice {
  const no = (what: string) => `lsblk prints no ${what} of ${name}`;
  return {
    name,
    type: asText(field("type")) ?? "unknown",
    sizeBytes: fromValue(asNumber(field("size")), no("size in bytes")),
    rotational: fromValue(asBoolean(field("rota")), no("rotation")),
    model: fromValue(asText(field("model")), no("model")),
    transport: fromValue(asText(field("tran")), no("transport")),
    mountPoints,
  };
}

function fromPairs(output: Output): ListFact<BlockDevice> {
  const rows = linesOf(output).flatMap((line) => {
    const pairs = [...line.matchAll(/([A-Z:%-]+)="((?:[^"\\]|\\.)*)"/g)];
    const fields = new Map(pairs.map(([, key = "", value = ""]) => [key.toLowerCase(), plainText(value)]));
    return fields.get("name") ? [fields] : [];
  });
  const found = new Map<string, BlockDevice>();
  for (const fields of rows) {
    const name = fields.get("name")!;
    found.set(
      name,
      device(name, (field) => fields.get(field), mountsBelow(name, rows)),
    );
  }
  return listFact(
    [...found.values()],
    output.isWhole && found.size > 0,
    found.size ? mayBeCut : "lsblk lists no device",
  );
}

function plainText(value: string): string {
  return value.replace(/\\x([\da-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

/** Mount points of a device and of everything that names it, or one below it, as its parent. */
function mountsBelow(name: string, rows: readonly ReadonlyMap<string, string>[]): string[] {
  const family = new Set([name]);
  const mounts = new Set<string>();
  for (const member of family)
    for (const row of rows) {
      if (row.get("pkname") === member) family.add(row.get("name")!);
      if (row.get("name") !== member) continue;
      for (const mount of (row.get("mountpoints") ?? row.get("mountpoint") ?? "").split("\n"))
        if (mount) mounts.add(mount);
    }
  return [...mounts];
}
