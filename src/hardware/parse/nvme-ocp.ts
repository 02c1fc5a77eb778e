/**
 * `nvme ocp smart-add-log`, as text and with `-o json`: the log page C0h of the
 * OCP Datacenter NVMe SSD specification. nvme-cli has changed the names of the
 * fields from version to version (capitals, underscores, colons, nested objects);
 * what is left of a name without them has stayed.
 */
import { type Fact, fromValue, known, type ListFact, listFact, unknown } from "../../base/fact.ts";
import { asNumber, asText, entriesOf } from "../json.ts";
import { linesOf, type Output } from "../output.ts";

export interface OcpFacts {
  /**
   * Energy that the capacitors hold, in percent of what a drive must hold when it leaves the
   * factory; may pass 100. 1 is the least that a stop without loss takes.
   */
  readonly capacitorPercent: Fact<number>;
  readonly powerLossProtection: Fact<boolean>;
  /** Wear of the area that the drive keeps for itself, percent of the rated life. */
  readonly systemPercentUsed: Fact<number>;
  /** Times that the protection had to step in. */
  readonly powerLosses: Fact<number>;
  /** What stands against the drive. */
  readonly problems: ListFact<string>;
}

export const noCapacitors = "the drive says that it has no capacitors";

/** Which specification the page is of: the same page is something else on other drives. */
const pageId = "afd514c97c6f4f9ca4f2bfea2810afc5";
/** What the field of the capacitors holds where there are none. */
const noneThere = 0xffff;

type Fields = ReadonlyMap<string, unknown>;

/** Undefined: the document is another one. */
export function ocpOfJson(document: unknown): OcpFacts | undefined {
  const fields = new Map<string, unknown>();
  for (const [name, value] of entriesOf(document)) fields.set(plain(name), value);
  return isOcp(fields) ? factsOf(fields) : undefined;
}

/** Undefined: the text is another one. */
export function ocpOfText(output: Output): OcpFacts | undefined {
  const fields = new Map<string, unknown>();
  const contradictory = new Set<string>();
  for (const line of linesOf(output)) {
    const [, written = "", value = ""] = /^\s+(\S.*?)\s*[:-]?\s+(\S+)\s*$/.exec(line) ?? [];
    const name = plain(written);
    if (fields.has(name) && fields.get(name) !== value) contradictory.add(name);
    fields.set(name, value);
  }
  for (const name of contradictory) fields.delete(name);
  return isOcp(fields) ? factsOf(fields) : undefined;
}

export function noOcp(reason: string): OcpFacts {
  const no = unknown(reason);
  return {
    capacitorPercent: no,
    powerLossProtection: no,
    systemPercentUsed: no,
    powerLosses: no,
    problems: no,
  };
}

function plain(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, " ")
    .trim();
}

function isOcp(fields: Fields): boolean {
  return fields.has("capacitor health") || fields.has("plp start count");
}

function factsOf(fields: Fields): OcpFacts {
  if (!(asText(fields.get("log page guid")) ?? "").toLowerCase().endsWith(pageId))
    return noOcp("nvme ocp: the page does not carry the identifier of OCP");
  const count = (...names: readonly string[]) => {
    const value = names.map((name) => asNumber(fields.get(name))).find((one) => one !== undefined);
    return value !== undefined && value >= 0 ? value : undefined;
  };
  const no = "nvme ocp does not print it";
  const capacitors = count("capacitor health");
  const isSize = capacitors !== undefined && Number.isInteger(capacitors) && capacitors <= noneThere;
  const used = count("system data percent used");
  const unread = count("uncorrectable read error count", "uncorrectable read errors");
  const incomplete = count("incomplete shutdowns");
  const problems = [
    ...(capacitors === 0 ? ["the capacitors hold less than a stop without loss takes"] : []),
    ...(unread ? [`${unread} reads that nothing could correct`] : []),
    ...(incomplete ? [`${incomplete} stops at which not everything was saved`] : []),
    ...(used !== undefined && used >= 100 ? [`${used} % of the rated life of its own area used`] : []),
  ];
  return {
    capacitorPercent:
      isSize && capacitors === noneThere
        ? unknown(noCapacitors)
        : fromValue(isSize ? capacitors : undefined, no),
    powerLossProtection: isSize ? known(capacitors > 0 && capacitors < noneThere) : unknown(no),
    systemPercentUsed: fromValue(used, no),
    powerLosses: fromValue(count("plp start count"), no),
    problems: listFact(problems, isSize && ![used, unread, incomplete].includes(undefined), no),
  };
}
