/**
 * `chronyc -n -c tracking`, and its text without `-c`. A daemon that never
 * synchronised prints an offset of 0, so the offset is a fact only while
 * stratum and leap status say that there is something to be off from.
 */
import { type Fact, fromValue, known, unknown } from "../../base/fact.ts";
import { asNumber } from "../json.ts";
import { labels, linesOf, type Output } from "../output.ts";
import { parseCount, parseDecimal } from "../quantity.ts";

export interface TrackingFacts {
  readonly running: Fact<boolean>;
  readonly isSynchronized: Fact<boolean>;
  readonly stratum: Fact<number>;
  readonly leap: Fact<string>;
  /** Positive: the system clock is fast. */
  readonly offsetSeconds: Fact<number>;
  readonly rootDelaySeconds: Fact<number>;
  readonly rootDispersionSeconds: Fact<number>;
  readonly frequencyPpm: Fact<number>;
  /** Instant of the last update, seconds since 1970. */
  readonly referenceTime: Fact<number>;
}

const leapStates = ["Normal", "Insert second", "Delete second", "Not synchronised"];

export function parseChronycTracking(output: Output): TrackingFacts {
  if (/cannot talk to daemon|could not open connection/i.test(output.text))
    return nothing("chronyd does not answer", known(false));
  const rows = linesOf(output)
    .map((line) => line.trim().split(","))
    .filter(
      (fields) =>
        fields.length === 14 && /^[0-9A-F]{8}$/i.test(fields[0]!) && leapStates.includes(fields[13]!),
    );
  if (rows.length > 1) return nothing("chronyc printed more than one line of tracking", known(true));
  const fields = rows[0];
  if (!fields) return fromLabels(output);
  return facts({
    stratum: parseCount(fields[2]),
    leap: fields[13],
    // chronyc writes the correction still to come: negative where the clock is fast.
    offset: negate(parseDecimal(fields[4])),
    rootDelay: parseDecimal(fields[10]),
    rootDispersion: parseDecimal(fields[11]),
    frequency: parseDecimal(fields[7]),
    referenceTime: parseDecimal(fields[3]),
  });
}

interface Numbers {
  readonly stratum: number | undefined;
  readonly leap: string | undefined;
  readonly offset: number | undefined;
  readonly rootDelay: number | undefined;
  readonly rootDispersion: number | undefined;
  readonly frequency: number | undefined;
  readonly referenceTime: number | undefined;
}

function facts(read: Numbers): TrackingFacts {
  const { stratum, leap } = read;
  const no = "chronyc does not print it";
  const isSynchronized =
    stratum === 0 || leap === "Not synchronised"
      ? false
      : stratum !== undefined && leap !== undefined && stratum < 16
        ? true
        : undefined;
  const when = (value: number | undefined): Fact<number> =>
    isSynchronized === true
      ? fromValue(value, no)
      : unknown(isSynchronized === false ? "the clock is not synchronised, so its offset means nothing" : no);
  return {
    running: known(true),
    isSynchronized: fromValue(isSynchronized, no),
    stratum: fromValue(stratum, no),
    leap: fromValue(leap, no),
    offsetSeconds: when(read.offset),
    rootDelaySeconds: when(read.rootDelay),
    rootDispersionSeconds: when(read.rootDispersion),
    frequencyPpm: fromValue(read.frequency, no),
    referenceTime: when(read.referenceTime),
  };
}

function fromLabels(output: Output): TrackingFacts {
  const text = labels(output);
  const leap = text.get("Leap status");
  if (text.size === 0 || (!text.has("Stratum") && leap === undefined))
    return nothing("the output is no tracking of chronyc");
  const system = /^(\d+\.\d+) seconds (fast|slow) of NTP time$/.exec(text.get("System time") ?? "");
  const seconds = (name: string) => parseDecimal(/^(-?\d+\.\d+) seconds$/.exec(text.get(name) ?? "")?.[1]);
  const frequency = /^(\d+\.\d+) ppm (fast|slow)$/.exec(text.get("Frequency") ?? "");
  return facts({
    stratum: parseCount(text.get("Stratum")),
    leap: leap !== undefined && leapStates.includes(leap) ? leap : undefined,
    offset: system ? (system[2] === "fast" ? 1 : -1) * Number(system[1]) : undefined,
    rootDelay: seconds("Root delay"),
    rootDispersion: seconds("Root dispersion"),
    frequency: frequency ? (frequency[2] === "fast" ? 1 : -1) * Number(frequency[1]) : undefined,
    referenceTime: asNumber(undefined),
  });
}

function nothing(reason: string, running: Fact<boolean> = unknown(reason)): TrackingFacts {
  const no = unknown(reason);
  return {
    running,
    isSynchronized: no,
    stratum: no,
    leap: no,
    offsetSeconds: no,
    rootDelaySeconds: no,
    rootDispersionSeconds: no,
    frequencyPpm: no,
    referenceTime: no,
  };
}

function negate(value: number | undefined): number | undefined {
  return value === undefined ? undefined : 0 - value;
}
