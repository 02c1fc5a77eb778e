import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { fireNote } from "../../src/schedule/clock-change.ts";
import { compileSchedule, scheduleFromText } from "../../src/schedule/compile.ts";
import { parseCron } from "../../src/schedule/cron-expression.ts";
import { explainSchedule } from "../../src/schedule/explain.ts";
import { formatInZone } from "../../src/schedule/local-text.ts";
import type { DstGap, DstOverlap } from "../../src/schedule/schedule.ts";
import { zoneOf } from "../../src/schedule/zone.ts";

const cases: {
  sentences: [string, string][];
  warnings: [string, string[]][];
  clockChanges: { cron: string; zone: string; gap: DstGap; overlap: DstOverlap; says: string[] }[];
} = JSON.parse(readFileSync(new URL("../cases/schedule/explain.json", import.meta.url), "utf8"));

const plain = { dstGap: "run-at-transition", dstOverlap: "first", fromMs: Date.UTC(2026, 0) } as const;

describe("explainSchedule", () => {
  it.each(cases.sentences)("%s", (text, sentence) => {
    expect(explainSchedule({ ...scheduleFromText(text), ...plain }).text).toBe(`${sentence}.`);
  });

  it.each(cases.warnings)("%s warns of %j", (text, codes) => {
    expect(
      explainSchedule({ ...scheduleFromText(text), ...plain }).warnings.map((warning) => warning.code),
    ).toEqual(codes);
  });

  it.each(cases.clockChanges)(
    "$cron in $zone, gap $gap, overlap $overlap",
    ({ cron, zone, gap, overlap, says }) => {
      const { warnings } = explainSchedule({
        cron,
        zone,
        dstGap: gap,
        dstOverlap: overlap,
        fromMs: Date.UTC(2026, 0),
      });
      const texts = warnings
        .filter((warning) => warning.code.startsWith("dst-"))
        .map((warning) => warning.text);
      expect(texts.filter((text) => text.startsWith("on 2026-"))).toEqual(says);
      // Two years are looked at: the same happens again in 2027.
      expect(texts.length).toBe(2 * says.length);
    },
  );

  it("names the zone", () => {
    expect(explainSchedule({ cron: "0 2 * * *", zone: "UTC", ...plain }).text).toBe(
      "At 02:00 every day, in UTC.",
    );
    expect(explainSchedule({ cron: "0 2 * * *", zone: "Asia/Kolkata", ...plain }).text).toBe(
      "At 02:00 every day, by the clock of Asia/Kolkata.",
    );
    expect(() => explainSchedule({ cron: "0 2 * * *", zone: "Europe/Berln", ...plain })).toThrow(
      /Europe\/Berln/,
    );
  });
});

describe("fireNote", () => {
  const note = (cron: string, fire: string, zone = "Europe/Berlin") =>
    fireNote(parseCron(cron), zoneOf(zone), Date.parse(fire));

  it("marks moved fires and repeated ones, and nothing else", () => {
    expect(note("30 2 * * *", "2026-03-28T01:30Z")).toBe(undefined);
    expect(note("30 2 * * *", "2026-03-29T01:00Z")).toBe("moved: 02:30 is skipped by the clock");
    expect(note("0 3 * * *", "2026-03-29T01:00Z")).toBe(undefined);
    expect(note("30 2,3 * * *", "2026-03-29T01:30Z")).toBe(undefined);
    expect(note("0 2,3 * * *", "2026-03-29T01:00Z")).toBe("also stands for 02:00, skipped by the clock");
    expect(note("30 2 * * *", "2026-10-25T00:30Z")).toBe("first of two");
    expect(note("30 2 * * *", "2026-10-25T01:30Z")).toBe("second of two");
    expect(note("0 3 * * *", "2026-10-25T02:00Z")).toBe(undefined);
    expect(note("59 1 * * *", "2026-10-24T23:59Z")).toBe(undefined);
  });

  it("marks exactly the fires whose local time the expression does not name", () => {
    const schedule = compileSchedule({ cron: "20,50 1-2 * * *", zone: "Australia/Lord_Howe" });
    const zone = zoneOf("Australia/Lord_Howe");
    const moved = schedule
      .between(Date.UTC(2026, 0), Date.UTC(2028, 0))
      .filter((fire) => fireNote(parseCron("20,50 1-2 * * *"), zone, fire)?.startsWith("moved"));
    expect(moved.map((fire) => formatInZone(fire, zone))).toEqual([
      "2026-10-04T02:30:00+11:00",
      "2027-10-03T02:30:00+11:00",
    ]);
  });
});

describe("formatInZone", () => {
  it("writes local time with its offset", () => {
    const at = (text: string, zone: string) => formatInZone(Date.parse(text), zoneOf(zone));
    expect(at("2026-10-25T00:30Z", "Europe/Berlin")).toBe("2026-10-25T02:30:00+02:00");
    expect(at("2026-10-25T01:30Z", "Europe/Berlin")).toBe("2026-10-25T02:30:00+01:00");
    expect(at("2026-07-01T00:00Z", "America/St_Johns")).toBe("2026-06-30T21:30:00-02:30");
    expect(at("2026-07-01T00:00Z", "Asia/Kathmandu")).toBe("2026-07-01T05:45:00+05:45");
    expect(at("2026-07-01T00:00Z", "UTC")).toBe("2026-07-01T00:00:00+00:00");
    expect(at("1971-01-01T00:00Z", "Africa/Monrovia")).toBe("1970-12-31T23:15:30-00:44:30");
  });
});
