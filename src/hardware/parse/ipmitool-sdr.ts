/**
 * `ipmitool -c sdr type "Power Supply"` (comma-separated) and the short table
 * of `ipmitool sdr`. The column that says "ok" says only that a reading exists:
 * a supply that lost its feed is "ok" too. What counts is the reading.
 */
import { type Fact, fromValue, known, listFact, unknown } from "../../base/fact.ts";
import type { PowerFacts, PowerSupply } from "../host-facts.ts";
import { linesOf, mayBeCut, type Output } from "../output.ts";

interface Row {
  readonly name: string;
  readonly entity: string;
  readonly reading: string;
}

export function parseIpmitoolSdr(output: Output): PowerFacts {
  const rows = linesOf(output).flatMap(toRow);
  const peak = /(?:could not open device|no such file|unable to establish)/i.test(output.text)
    ? "ipmitool finds no management controller"
    : "ipmitool prints no power supply";
  const supplies = new Map<string, PowerSupply>();
  for (const row of rows) {
    const supply = toSupply(row);
    if (!supply) continue;
    const key = row.entity || row.name;
    const before = supplies.get(key);
    supplies.set(key, before ? merge(before, supply) : supply);
  }
  const all = [...supplies.values()];
  return {
    source: all.length > 0 ? "management controller" : "nothing",
    supplies: listFact(all, output.isWhole && all.length > 0, all.length === 0 ? peak : mayBeCut),
    redundancyStated: fromValue(
      rows.find((row) => /redundan/i.test(row.name) || /redundan/i.test(row.reading))?.reading || undefined,
      "ipmitool prints no redundancy",
    ),
    peakWatts: unknown("ipmitool sdr shows the draw of the moment, not the peak"),
  };
}

function toRow(line: string): Row[] {
  if (line.includes("|")) {
    const cells = line.split("|").map((cell) => cell.trim());
    // Long form: name | id | status | entity | reading; short form: name | reading | status.
    if (cells.length >= 5) return [{ name: cells[0]!, entity: cells[3]!, reading: cells[4]! }];
    return cells.length === 3 ? [{ name: cells[0]!, entity: "", reading: cells[1]! }] : [];
  }
  const cells = line.split(",").map((cell) => cell.trim());
  if (cells.length < 5 || !/^[\dA-Fa-f]{1,2}h$/.test(cells[1]!)) return [];
  return [{ name: cells[0]!, entity: cells[3]!, reading: cells.slice(4).join(", ") }];
}

/** IPMI gives power supplies the entity id 10; the short form has only names. */
function toSupply(row: Row): PowerSupply | undefined {
  if (/redundan/i.test(row.name) || /redundan/i.test(row.reading)) return undefined;
  const isSupply = row.entity ? /^10\.\d+$/.test(row.entity) : /^(power supply|psu?)\s*\d+/i.test(row.name);
  if (!isSupply) return undefined;
  const watts = /^(\d+(?:\.\d+)?) Watts$/i.exec(row.reading)?.[1];
  const draws = watts !== undefined && Number(watts) > 0;
  const lostFeed = /AC lost|input lost|out-of-range|no input/i.test(row.reading);
  const failed = /fail|config(uration)? error|predictive|fault/i.test(row.reading);
  const present = /presence detected/i.test(row.reading) || draws || lostFeed || failed;
  const absent = /absent|not present/i.test(row.reading);
  const nothing = `the reading is ${JSON.stringify(row.reading.slice(0, 40))}`;
  const detected = /presence detected/i.test(row.reading);
  return {
    name: row.entity ? `${row.name} ${row.entity}` : row.name,
    isPresent: absent ? known(false) : present ? known(true) : unknown(nothing),
    hasInput: lostFeed ? known(false) : detected || draws ? known(true) : unknown(nothing),
    // A reading in watts says that current flows, not that nothing is wrong.
    isHealthy: failed ? known(false) : detected && !lostFeed ? known(true) : unknown(nothing),
    capacityWatts: unknown("ipmitool sdr does not print capacity"),
  };
}

/** One supply can have several sensors: the worst answer counts. */
function merge(a: PowerSupply, b: PowerSupply): PowerSupply {
  const worse = (x: Fact<boolean>, y: Fact<boolean>): Fact<boolean> =>
    "known" in x && ("unknown" in y || !x.known) ? x : y;
  return {
    name: a.name,
    isPresent: worse(a.isPresent, b.isPresent),
    hasInput: worse(a.hasInput, b.hasInput),
    isHealthy: worse(a.isHealthy, b.isHealthy),
    capacityWatts: a.capacityWatts,
  };
}
