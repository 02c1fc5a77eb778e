import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { compileSchedule } from "../../src/schedule/compile.ts";
import { formatTable, type GoldenTable, goldenTable, goldenZones, parseTable } from "./golden.ts";
import { fires, walk } from "./oracle.ts";

const path = (file: string) => new URL(`../cases/schedule/${file}.jsonl`, import.meta.url);

describe.each(goldenZones)("$zone: $why", (goldenZone) => {
  const file = path(goldenZone.file);
  if (process.env.ESCAPEMENT_WRITE_GOLDEN) writeFileSync(file, formatTable(goldenTable(goldenZone)));
  const table: GoldenTable | undefined = existsSync(file)
    ? parseTable(readFileSync(file, "utf8"))
    : undefined;

  it("the table is what the walker sees today", () => {
    expect(table).toEqual(goldenTable(goldenZone));
  });

  it("the evaluator agrees with the table", () => {
    expect(table!.cases.length).toBeGreaterThanOrEqual(9 * 6);
    for (const { expression, gap, overlap, counts, fires } of table!.cases) {
      const schedule = compileSchedule({
        cron: expression,
        zone: table!.zone,
        dstGap: gap,
        dstOverlap: overlap,
      });
      const found = table!.windows.map(([from, to]) =>
        schedule.between(Date.parse(from) - 1, Date.parse(to) - 1),
      );
      const name = `${expression}, ${gap}, ${overlap}`;
      expect(
        found.map((list) => list.length),
        name,
      ).toEqual(counts);
      if (fires) expect(found.flat(), name).toEqual(fires.map((text) => Date.parse(text)));
    }
  });

  it("asked backwards, the answers are the same", () => {
    for (const { expression, gap, overlap, counts } of table!.cases) {
      const schedule = compileSchedule({
        cron: expression,
        zone: table!.zone,
        dstGap: gap,
        dstOverlap: overlap,
      });
      const found = table!.windows.map(([from, to]) => {
        const list: number[] = [];
        for (
          let fire = schedule.previous(Date.parse(to));
          fire !== null && fire >= Date.parse(from);
          fire = schedule.previous(fire)
        ) {
          list.unshift(fire);
        }
        return list;
      });
      expect(
        found.map((list) => list.length),
        `${expression}, ${gap}, ${overlap}`,
      ).toEqual(counts);
      expect(found).toEqual(
        table!.windows.map(([from, to]) => schedule.between(Date.parse(from) - 1, Date.parse(to) - 1)),
      );
    }
  });
});

/** At the second: an hour on both sides of each change, six fields. */
describe("seconds around a change", () => {
  const changes = [
    ["Europe/Berlin", "2026-03-29T01:00Z"],
    ["Europe/Berlin", "2026-10-25T01:00Z"],
    ["Australia/Lord_Howe", "2026-04-04T15:00Z"],
    ["America/Santiago", "2025-09-07T04:00Z"],
  ] as const;
  const expressions = [
    "*/7 * * * * *",
    "5 0,30 * * * *",
    "30 15 2 * * *",
    "0,59 59 1 * * *",
    "10-20/5 0 0-3 * * *",
  ];

  it.each(changes)("%s at %s", (zone, at) => {
    const hour = 3_600_000;
    const from = Date.parse(at) - hour;
    const to = Date.parse(at) + hour;
    const walked = walk(zone, from - hour, to + hour, 1000);
    for (const cron of expressions) {
      for (const gap of ["run-at-transition", "skip"] as const) {
        for (const overlap of ["first", "second", "both"] as const) {
          const expected = fires(cron, walked, { gap, overlap }).filter((ms) => ms >= from && ms < to);
          const schedule = compileSchedule({ cron, zone, dstGap: gap, dstOverlap: overlap });
          expect(schedule.between(from - 1, to - 1), `${cron}, ${gap}, ${overlap}`).toEqual(expected);
        }
      }
    }
  });
});
