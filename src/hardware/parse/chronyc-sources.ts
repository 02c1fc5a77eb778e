/** `chronyc -n -c sources`, `sourcestats` and `activity`. The reach register is written in octal. */
import { type Fact, fromValue, type ListFact, listFact, unknown } from "../../base/fact.ts";
import type { NtpSource } from "../clock-facts.ts";
import { linesOf, mayBeCut, type Output } from "../output.ts";
import { parseCount, parseDecimal, parseReach } from "../quantity.ts";

const kinds: Readonly<Record<string, NtpSource["kind"]>> = {
  "^": "server",
  "=": "peer",
  "#": "reference clock",
};
const states: Readonly<Record<string, string>> = {
  "*": "selected",
  "+": "combined",
  "-": "not combined",
  "?": "unreachable",
  x: "falseticker",
  "~": "variable",
};

/** What chronyc prints in place of an answer. */
const silent = /cannot talk to daemon|could not open connection/i;

/** No line at all, of an output that is whole, is the answer "no sources". */
export function parseChronycSources(output: Output): ListFact<NtpSource> {
  if (silent.test(output.text)) return unknown("chronyd does not answer");
  const lines = linesOf(output).filter((line) => line.trim() !== "");
  const sources = lines.flatMap(toSource);
  const strange = lines.length - sources.length;
  if (strange > 0) return listFact(sources, false, `chronyc printed ${strange} line(s) that are no sources`);
  return listFact(sources, output.isWhole, mayBeCut);
}

function toSource(line: string): NtpSource[] {
  const fields = line.trim().split(",");
  const [mode, state, name, stratum, , reach, last] = fields;
  const kind = Object.hasOwn(kinds, mode!) ? kinds[mode!] : undefined;
  const says = state !== undefined && Object.hasOwn(states, state) ? states[state] : undefined;
  const level = parseCount(stratum);
  const answered = reach === undefined ? undefined : parseReach(reach);
  if (fields.length !== 10 || !kind || !says || !name || level === undefined || answered === undefined)
    return [];
  // 4294967295 seconds since the last answer: there never was one, and the offset beside it is no offset.
  const neverAnswered = last === "4294967295";
  const offset = parseDecimal(fields[7]);
  return [
    {
      name,
      kind,
      state: says,
      stratum: level,
      reach: answered,
      offsetSeconds:
        neverAnswered || answered === 0
          ? unknown("this source does not answer")
          : fromValue(offset, "chronyc does not print it"),
    },
  ];
}

export interface SourceStatistics {
  readonly name: string;
  readonly samples: number;
  /** Only where there are samples; chronyc prints 2000 otherwise. */
  readonly skewPpm: Fact<number>;
  readonly deviationSeconds: Fact<number>;
}

export function parseChronycSourcestats(output: Output): ListFact<SourceStatistics> {
  if (silent.test(output.text)) return unknown("chronyd does not answer");
  const lines = linesOf(output).filter((line) => line.trim() !== "");
  const rows = lines.flatMap((line): SourceStatistics[] => {
    const fields = line.trim().split(",");
    const samples = parseCount(fields[1]);
    if (fields.length !== 8 || !fields[0] || samples === undefined) return [];
    const when = (text: string | undefined) =>
      samples > 0 ? fromValue(parseDecimal(text), "chronyc does not print it") : unknown("no samples yet");
    return [{ name: fields[0], samples, skewPpm: when(fields[5]), deviationSeconds: when(fields[7]) }];
  });
  const strange = lines.length - rows.length;
  if (strange > 0) return listFact(rows, false, `chronyc printed ${strange} line(s) that are no statistics`);
  return listFact(rows, output.isWhole, mayBeCut);
}

export interface SourceActivity {
  readonly online: number;
  readonly offline: number;
  /** Sources whose name cannot be resolved: usually a broken DNS. */
  readonly unresolved: number;
}

export function parseChronycActivity(output: Output): Fact<SourceActivity> {
  for (const line of linesOf(output)) {
    const numbers = line.trim().split(",").map(parseCount);
    if (numbers.length !== 5 || numbers.includes(undefined)) continue;
    return { known: { online: numbers[0]!, offline: numbers[1]!, unresolved: numbers[4]! } };
  }
  return unknown("chronyc prints no activity");
}
