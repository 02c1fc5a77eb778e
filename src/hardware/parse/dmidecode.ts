/** `dmidecode`, all of it or `-t 16,17,39`: memory arrays, modules, power supplies. */
import { type Fact, fromValue, type ListFact, listFact, unknown } from "../../base/fact.ts";
import type { Dimm, ErrorCorrection, PowerFacts, PowerSupply } from "../host-facts.ts";
import { linesOf, mayBeCut, type Output } from "../output.ts";
import { parseCount, parseSize, parseTransfers } from "../quantity.ts";

export interface DmidecodeFacts {
  readonly product: Fact<string>;
  readonly ecc: Fact<ErrorCorrection>;
  readonly dimms: ListFact<Dimm>;
  readonly emptySlots: Fact<number>;
  readonly power: PowerFacts;
}

interface DmiRecord {
  readonly type: number;
  readonly fields: ReadonlyMap<string, string>;
}

export function parseDmidecode(output: Output): DmidecodeFacts {
  const { records, isWhole } = recordsOf(output);
  const nothing = /permission denied|can't read|\/dev\/mem/i.test(output.text)
    ? "dmidecode: needs root"
    : "dmidecode prints no such record";
  const system = records.find((record) => record.type === 1)?.fields;
  const arrays = records.filter(
    (record) => record.type === 16 && record.fields.get("Use") === "System Memory",
  );
  const devices = records.filter((record) => record.type === 17);
  const modules = devices.map(toDimm);
  const dimms = modules.filter((dimm) => dimm !== undefined && dimm !== "empty");
  const isComplete = isWhole && devices.length > 0 && modules.every((dimm) => dimm !== undefined);
  const reason = devices.length === 0 ? nothing : mayBeCut;
  return {
    product: fromValue(meaning(system?.get("Product Name")), nothing),
    ecc: errorCorrection(arrays, isWhole, nothing),
    dimms: listFact(dimms, isComplete, reason),
    emptySlots: isComplete ? { known: modules.filter((dimm) => dimm === "empty").length } : unknown(reason),
    power: power(records, isWhole, nothing),
  };
}

/** Blank lines part the records. The last may be cut: then fields of it are missing, never wrong. Record 127 is the end of the table. */
function recordsOf(output: Output): { records: DmiRecord[]; isWhole: boolean } {
  const records: DmiRecord[] = [];
  let fields: Map<string, string> | undefined;
  let type = -1;
  let isWhole = output.isWhole;
  const close = () => {
    if (fields) records.push({ type, fields });
    if (fields && type === 127) isWhole = true;
    fields = undefined;
  };
  for (const line of linesOf(output)) {
    const handle = /^Handle 0x[0-9A-Fa-f]+, DMI type (\d+)\b/.exec(line);
    if (handle) {
      close();
      type = Number(handle[1]);
      fields = new Map();
    } else if (line.trim() === "") close();
    else {
      const pair = /^\t([^\t:][^:]*):\s*(.*)$/.exec(line);
      if (pair && fields && !fields.has(pair[1]!)) fields.set(pair[1]!, pair[2]!.trim());
    }
  }
  close();
  return { records, isWhole };
}

/** What firmware writes where it knows nothing. */
function meaning(text: string | undefined): string | undefined {
  return text && !/^(not specified|unknown|none|to be filled|n\/a|-+|<out of spec>|other)/i.test(text)
    ? text
    : undefined;
}

/** undefined: a record that says neither a size nor that the slot is empty. */
function toDimm({ fields }: DmiRecord): Dimm | "empty" | undefined {
  const size = fields.get("Size");
  if (size === undefined) return undefined;
  if (/^(no module installed|0\b)/i.test(size)) return "empty";
  const sizeBytes = parseSize(size);
  if (sizeBytes === undefined) return undefined;
  const speed = fields.get("Configured Memory Speed") ?? fields.get("Configured Clock Speed") ?? "";
  const bits = (name: string) =>
    fromValue(
      parseCount(/^(\d+) bits$/.exec(fields.get(name) ?? "")?.[1]),
      `dmidecode: no ${name.toLowerCase()}`,
    );
  return {
    locator: fields.get("Locator") ?? "",
    bank: meaning(fields.get("Bank Locator")) ?? "",
    sizeBytes,
    kind: fromValue(meaning(fields.get("Type")), "dmidecode: no type of module"),
    ratedMtps: fromValue(parseTransfers(fields.get("Speed") ?? ""), "dmidecode: no rated speed"),
    configuredMtps: fromValue(parseTransfers(speed), "dmidecode: no configured speed"),
    partNumber: fromValue(meaning(fields.get("Part Number")), "dmidecode: no part number"),
    totalWidthBits: bits("Total Width"),
    dataWidthBits: bits("Data Width"),
  };
}

const corrections: readonly [RegExp, ErrorCorrection][] = [
  [/^None$/, "none"],
  [/^Parity$/, "parity"],
  [/^Single-bit ECC$/, "single-bit"],
  [/^Multi-bit ECC$/, "multi-bit"],
  [/^CRC$/, "crc"],
];

/** Of several arrays the weakest counts; one that says nothing makes the answer unknown. */
function errorCorrection(
  arrays: readonly DmiRecord[],
  isWhole: boolean,
  nothing: string,
): Fact<ErrorCorrection> {
  if (arrays.length === 0) return unknown(nothing);
  const strength = ["none", "parity", "single-bit", "multi-bit", "crc"] as const;
  const all = arrays.map(({ fields }) => {
    const text = fields.get("Error Correction Type") ?? "";
    return corrections.find(([pattern]) => pattern.test(text))?.[1];
  });
  if (all.includes("none")) return { known: "none" };
  if (all.includes(undefined))
    return unknown("dmidecode: the memory array does not name its error correction");
  if (!isWhole) return unknown(mayBeCut);
  return fromValue(
    strength.find((one) => all.includes(one)),
    nothing,
  );
}

/** Firmware tables often leave power supplies out: none listed is unknown, and one listed is no proof of a single one. */
function power(records: readonly DmiRecord[], isWhole: boolean, nothing: string): PowerFacts {
  const supplies: PowerSupply[] = records
    .filter((record) => record.type === 39)
    .map(({ fields }, index) => {
      const status = fields.get("Status") ?? "";
      const isPresent = /^Present\b/.test(status) ? true : /^Not Present/.test(status) ? false : undefined;
      const health = status.split(",")[1]?.trim();
      const plugged = fields.get("Plugged");
      return {
        name: meaning(fields.get("Location")) ?? meaning(fields.get("Name")) ?? `supply ${index + 1}`,
        isPresent: fromValue(isPresent, "dmidecode: no status of this supply"),
        hasInput: unknown(
          plugged === "No"
            ? "dmidecode: not plugged when the firmware looked"
            : "dmidecode does not watch the feed",
        ),
        isHealthy: fromValue(
          health === "OK" ? true : health === "Critical" || health === "Non-critical" ? false : undefined,
          `dmidecode: status ${JSON.stringify(status.slice(0, 40))}`,
        ),
        capacityWatts: fromValue(
          parseCount(/^(\d+) W$/.exec(fields.get("Max Power Capacity") ?? "")?.[1]),
          "dmidecode: no capacity of this supply",
        ),
      };
    });
  const isListed = isWhole && supplies.length > 0;
  return {
    source: supplies.length > 0 ? "firmware table" : "nothing",
    supplies: listFact(
      supplies,
      isListed,
      supplies.length === 0 ? `${nothing}: firmware often lists no supply` : mayBeCut,
    ),
    redundancyStated: unknown("dmidecode does not tell redundancy"),
    peakWatts: unknown("dmidecode has no meter"),
  };
}
