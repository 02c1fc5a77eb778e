import { describe, expect, it } from "vitest";
import { compileSchedule, scheduleFromText } from "../../src/schedule/compile.ts";
import { parseEvery } from "../../src/schedule/every.ts";

const at = (text: string) => Date.parse(text);

describe("every", () => {
  it("reads durations, with or without the word, and milliseconds", () => {
    expect(["5m", "every 5m", "EVERY  5m", 300_000].map(parseEvery)).toEqual([
      300_000, 300_000, 300_000, 300_000,
    ]);
    expect(parseEvery("1h30m")).toBe(5_400_000);
  });

  it.each(["", "every", "5", "0s", "999ms", "-5m", "500d", "5 m", 0, 999, 1.5, Number.NaN, -1000])(
    "refuses %j",
    (every) => {
      expect(() => parseEvery(every)).toThrow(expect.objectContaining({ code: "E_CRON_SYNTAX" }));
    },
  );

  it("counts from the epoch, whatever the zone and wherever it is asked from", () => {
    const berlin = compileSchedule({ every: "7h", zone: "Europe/Berlin" });
    const utc = compileSchedule({ every: 7 * 3_600_000, zone: "UTC" });
    const from = at("2026-03-28T00:00Z");
    const fires = utc.between(from, at("2026-04-02T00:00Z"));
    expect(fires.every((fire) => fire % (7 * 3_600_000) === 0)).toBe(true);
    expect(berlin.between(from, at("2026-04-02T00:00Z"))).toEqual(fires);
    for (const [index, fire] of fires.entries()) {
      expect(berlin.matches(fire)).toBe(true);
      expect(berlin.matches(fire + 1)).toBe(false);
      expect(berlin.next(fire - 1)).toBe(fire);
      expect(berlin.previous(fire + 1)).toBe(fire);
      if (index > 0) expect(berlin.previous(fire)).toBe(fires[index - 1]);
      expect(berlin.next(fire)).toBe(fire + 7 * 3_600_000);
    }
    expect(berlin.between(from, at("2026-04-02T00:00Z"), 3)).toEqual(fires.slice(0, 3));
  });
});

describe("compileSchedule", () => {
  it("ends at its horizon, the years 1970 to 2199", () => {
    for (const schedule of [
      compileSchedule({ cron: "0 0 1 1 *", zone: "UTC" }),
      compileSchedule({ every: "1d", zone: "UTC" }),
    ]) {
      expect(schedule.next(at("1900-01-01T00:00Z"))).toBe(0);
      expect(schedule.previous(0)).toBe(null);
      expect(schedule.next(at("2199-12-31T00:00Z"))).toBe(null);
      expect(schedule.previous(at("2500-01-01T00:00Z"))).toBeLessThan(at("2200-01-01T00:00Z"));
      expect(schedule.next(Number.POSITIVE_INFINITY)).toBe(null);
      expect(schedule.matches(at("2200-01-01T00:00Z"))).toBe(false);
    }
    const newYear = compileSchedule({ cron: "0 0 1 1 *", zone: "Pacific/Apia" });
    expect(newYear.next(at("2199-12-01T00:00Z"))).toBe(at("2199-12-31T11:00Z"));
    expect(newYear.next(at("2199-12-31T11:00Z"))).toBe(null);
  });

  it("wants exactly one of cron and every", () => {
    expect(() => compileSchedule({ zone: "UTC" })).toThrow(/either cron or every/);
    expect(() => compileSchedule({ zone: "UTC", cron: "* * * * *", every: "5m" })).toThrow(
      /either cron or every/,
    );
    expect(() => compileSchedule({ zone: "Nowhere/Land", cron: "* * * * *" })).toThrow(/Nowhere/);
  });

  it("tells an interval from an expression", () => {
    expect(scheduleFromText("every 5m")).toEqual({ every: "every 5m" });
    expect(scheduleFromText("0 2 * * *")).toEqual({ cron: "0 2 * * *" });
    expect(scheduleFromText("@daily")).toEqual({ cron: "@daily" });
  });
});
