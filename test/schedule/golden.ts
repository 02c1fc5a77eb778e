/**
 * The golden tables: what they ask, and how the oracle fills them in. To write them anew, for example after
 * adding a zone: `npx vitest run test/schedule/golden.test.ts` with ESCAPEMENT_WRITE_GOLDEN=1.
 */
import { fires, type OraclePolicy, type Walk, walk } from "./oracle.ts";

export interface GoldenZone {
  readonly file: string;
  readonly zone: string;
  readonly why: string;
  /** Intervals in UTC; each ends before the second instant. */
  readonly windows: readonly (readonly [string, string])[];
  /** Expressions besides the common ones. */
  readonly expressions: readonly string[];
}

export interface GoldenTable {
  readonly zone: string;
  readonly why: string;
  readonly windows: GoldenZone["windows"];
  readonly cases: readonly GoldenCase[];
}

export interface GoldenCase extends OraclePolicy {
  readonly expression: string;
  /** Number of fires in each window, and each fire unless there are too many to be worth reading. */
  readonly counts: readonly number[];
  readonly fires?: readonly string[];
}

const day = 86_400_000;
/** More fires than this are only counted. */
const listed = 60;

const common = [
  "* * * * *",
  "*/20 * * * *",
  "30 * * * *",
  "0 0 * * *",
  "30 0 * * *",
  "30 1 * * *",
  "30 2 * * *",
  "0 3 * * *",
  "0,45 0-3 * * *",
];

export const goldenZones: readonly GoldenZone[] = [
  {
    file: "europe-berlin",
    zone: "Europe/Berlin",
    why: "one hour, 02:00 to 03:00 and back",
    windows: [
      ["2026-03-28T00:00Z", "2026-03-31T00:00Z"],
      ["2026-10-24T00:00Z", "2026-10-27T00:00Z"],
    ],
    expressions: ["15,45 2 * * *", "30 2 * * 0", "30 2 29 3 *"],
  },
  {
    file: "europe-london",
    zone: "Europe/London",
    why: "changes at 01:00 local, offset zero in winter",
    windows: [
      ["2025-03-29T00:00Z", "2025-04-01T00:00Z"],
      ["2025-10-25T00:00Z", "2025-10-28T00:00Z"],
    ],
    expressions: ["0 1 * * *", "59 1 * * *"],
  },
  {
    file: "america-new-york",
    zone: "America/New_York",
    why: "one hour, west of Greenwich",
    windows: [
      ["2026-03-07T00:00Z", "2026-03-10T00:00Z"],
      ["2026-10-31T00:00Z", "2026-11-03T00:00Z"],
    ],
    expressions: ["0 1 * * *", "0 */2 * * *", "0 2 8 3 *"],
  },
  {
    file: "australia-lord-howe",
    zone: "Australia/Lord_Howe",
    why: "half an hour, southern summer",
    windows: [
      ["2026-04-03T00:00Z", "2026-04-06T00:00Z"],
      ["2026-10-02T00:00Z", "2026-10-05T00:00Z"],
    ],
    expressions: ["45 1 * * *", "15 2 * * *", "0 2 * * *"],
  },
  {
    file: "america-santiago",
    zone: "America/Santiago",
    why: "the gap swallows midnight, the repeated hour is 23:00",
    windows: [
      ["2025-04-04T00:00Z", "2025-04-07T12:00Z"],
      ["2025-09-05T00:00Z", "2025-09-08T12:00Z"],
    ],
    expressions: ["30 23 * * *", "0 0 7 9 *", "0 0 * * 0", "0 1 * * *"],
  },
  {
    file: "asia-kolkata",
    zone: "Asia/Kolkata",
    why: "no changes, an offset of half an hour",
    windows: [["2026-03-28T00:00Z", "2026-03-30T00:00Z"]],
    expressions: [],
  },
  {
    file: "utc",
    zone: "UTC",
    why: "no changes, and a leap day",
    windows: [["2028-02-28T00:00Z", "2028-03-02T00:00Z"]],
    expressions: ["0 0 29 2 *", "0 12 1 3 *"],
  },
  {
    file: "asia-amman",
    zone: "Asia/Amman",
    why: "a gap at midnight, and summer time that stayed for good in October 2022",
    windows: [
      ["2022-02-24T00:00Z", "2022-02-27T00:00Z"],
      ["2022-10-27T00:00Z", "2022-10-30T00:00Z"],
    ],
    expressions: ["0 0 25 2 *", "0 1 * * *"],
  },
  {
    file: "africa-cairo",
    zone: "Africa/Cairo",
    why: "summer time came back in 2023; gap at midnight, repeated hour 23:00",
    windows: [
      ["2022-04-28T00:00Z", "2022-05-01T00:00Z"],
      ["2023-04-27T00:00Z", "2023-04-30T00:00Z"],
      ["2023-10-25T12:00Z", "2023-10-28T00:00Z"],
    ],
    expressions: ["30 23 * * *", "0 0 * * 5"],
  },
  {
    file: "america-sao-paulo",
    zone: "America/Sao_Paulo",
    why: "summer time ended for good in 2019",
    windows: [
      ["2018-11-03T00:00Z", "2018-11-05T12:00Z"],
      ["2019-02-15T12:00Z", "2019-02-18T12:00Z"],
      ["2019-11-02T00:00Z", "2019-11-04T12:00Z"],
    ],
    expressions: ["30 23 * * *", "0 0 4 11 *"],
  },
  {
    file: "pacific-apia",
    zone: "Pacific/Apia",
    why: "30 December 2011 does not exist",
    windows: [["2011-12-29T00:00Z", "2012-01-01T12:00Z"]],
    expressions: ["0 12 30 12 *", "0 9 * * 5", "0 12 * * *"],
  },
  {
    file: "africa-casablanca",
    zone: "Africa/Casablanca",
    why: "the clock is set back for Ramadan and forward after it",
    windows: [
      ["2025-02-22T00:00Z", "2025-02-24T12:00Z"],
      ["2025-04-05T00:00Z", "2025-04-07T12:00Z"],
    ],
    expressions: ["15 2,3 * * *"],
  },
  {
    file: "asia-pyongyang",
    zone: "Asia/Pyongyang",
    why: "the offset itself changed, by half an hour each way, without any summer time",
    windows: [
      ["2015-08-13T00:00Z", "2015-08-16T00:00Z"],
      ["2018-05-03T00:00Z", "2018-05-06T00:00Z"],
    ],
    expressions: ["45 23 * * *", "15 0 * * *"],
  },
];

/** Fills in a table by brute force. */
export function goldenTable({ zone, why, windows, expressions }: GoldenZone): GoldenTable {
  const walked = windows.map(([from, to]) => walk(zone, Date.parse(from) - day, Date.parse(to) + day));
  const cases = [...common, ...expressions].flatMap((expression) => casesOf(expression, windows, walked));
  return { zone, why, windows, cases };
}

function casesOf(expression: string, windows: GoldenZone["windows"], walked: Walk[]): GoldenCase[] {
  const cases: GoldenCase[] = [];
  for (const gap of ["run-at-transition", "skip"] as const) {
    for (const overlap of ["first", "second", "both"] as const) {
      const found = windows.map(([from, to], index) =>
        fires(expression, walked[index]!, { gap, overlap }).filter(
          (ms) => ms >= Date.parse(from) && ms < Date.parse(to),
        ),
      );
      const counts = found.map((list) => list.length);
      const all = found.flat().map((ms) => new Date(ms).toISOString().replace(":00.000Z", "Z"));
      cases.push({ expression, gap, overlap, counts, ...(all.length <= listed ? { fires: all } : {}) });
    }
  }
  return cases;
}

/** The heading, then one case a line, so that a change reads well. */
export function formatTable({ cases, ...heading }: GoldenTable): string {
  return [heading, ...cases].map((line) => `${JSON.stringify(line)}\n`).join("");
}

export function parseTable(text: string): GoldenTable {
  const [heading, ...cases] = text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  return { ...heading, cases };
}
