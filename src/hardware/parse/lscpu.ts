/** `lscpu -J` (nested or flat) and the text of `LC_ALL=C lscpu`. */
import { type Fact, factValue, fromValue, listFact, mapFact, unknown } from "../../base/fact.ts";
import type { CpuFacts, NumaNode } from "../host-facts.ts";
import { asArray, asText, at, jsonIn } from "../json.ts";
import { labels, type Output } from "../output.ts";
import { parseCount, parseCpuList } from "../quantity.ts";

export interface LscpuFacts {
  readonly architecture: Fact<string>;
  /** "none" where lscpu names no hypervisor and the whole output was seen. */
  readonly virtualization: Fact<string>;
  readonly cpu: CpuFacts;
}

export function parseLscpu(output: Output): LscpuFacts {
  const isJson = /^\s*\{/.test(output.text) || /^\s*"lscpu"/m.test(output.text);
  const json = isJson ? jsonIn(output) : undefined;
  const fields =
    json === undefined ? labels(output) : flatten(asArray(at(factValue(json) ?? {}, "lscpu")), new Map());
  const missing = (name: string) =>
    json && "unknown" in json ? `lscpu: ${json.unknown}` : `lscpu does not print ${name}`;
  const count = (name: string) => fromValue(parseCount(fields.get(name)) || undefined, missing(name));

  const sockets = count("Socket(s)");
  const threads = count("CPU(s)");
  const coresPerSocket = count("Core(s) per socket");
  const cores = mapFact(
    sockets,
    (s) => {
      const each = factValue(coresPerSocket);
      return each === undefined ? undefined : s * each;
    },
    missing("Core(s) per socket"),
  );
  return {
    architecture: fromValue(fields.get("Architecture") || undefined, missing("Architecture")),
    virtualization: virtualization(
      fields,
      json !== undefined || output.isWhole,
      missing("Hypervisor vendor"),
    ),
    cpu: {
      model: fromValue(asText(fields.get("Model name")), missing("Model name")),
      sockets,
      cores: plausibleCores(cores, threads),
      threads,
      numaNodes: numaNodes(fields, missing("NUMA node(s)")),
    },
  };
}

/** Newer versions nest fields under `children`; older ones list them flat. A field that comes twice keeps its first value. */
function flatten(rows: readonly unknown[], into: Map<string, string>): Map<string, string> {
  for (const row of rows) {
    const name = asText(at(row, "field"))?.replace(/:$/, "");
    const data = at(row, "data");
    if (name !== undefined && typeof data === "string" && !into.has(name)) into.set(name, data.trim());
    flatten(asArray(at(row, "children")), into);
  }
  return into;
}

/** More cores than processors happens where some are offline, and in broken output: then nobody knows. */
function plausibleCores(cores: Fact<number>, threads: Fact<number>): Fact<number> {
  const [c, t] = [factValue(cores), factValue(threads)];
  if (c !== undefined && t !== undefined && c > t)
    return unknown(`lscpu counts ${c} cores on ${t} processors`);
  return cores;
}

function numaNodes(fields: ReadonlyMap<string, string>, missing: string) {
  const nodes: NumaNode[] = [];
  for (const [name, value] of fields) {
    const id = /^NUMA node(\d+) CPU\(s\)$/.exec(name)?.[1];
    const cpus = parseCpuList(value);
    if (id === undefined || cpus === undefined) continue;
    nodes.push({ id: Number(id), cpus, memoryBytes: unknown("lscpu does not print memory of nodes") });
  }
  nodes.sort((a, b) => a.id - b.id);
  const said = parseCount(fields.get("NUMA node(s)"));
  if (said === undefined) return listFact(nodes, false, missing);
  return listFact(nodes, said === nodes.length, `lscpu counts ${said} nodes and lists ${nodes.length}`);
}

function virtualization(
  fields: ReadonlyMap<string, string>,
  isWhole: boolean,
  missing: string,
): Fact<string> {
  const vendor = fields.get("Hypervisor vendor");
  if (vendor) return { known: vendor.toLowerCase() };
  // Absence says something only about an output that has its flags and its end.
  return isWhole && fields.has("Flags") && fields.has("CPU(s)") ? { known: "none" } : unknown(missing);
}
