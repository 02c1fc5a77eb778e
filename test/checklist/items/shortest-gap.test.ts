/** The shortest time between two fires, against instants worked out by hand. */
import { describe, expect, it } from "vitest";
import { shortestGap } from "../../../src/checklist/items/shortest-gap.ts";
import { dayMs, goodJobs, hourMs } from "../good-cluster.ts";

describe("the shortest gap", () => {
  const [bonus] = goodJobs();
  const at = new Date("2026-06-01T00:00:00Z");
  const gapOf = (
    cron: string,
    timeZone = "UTC",
    dstGap: "skip" | "run-at-transition" = "run-at-transition",
    dstOverlap: "first" | "second" | "both" = "first",
  ) => shortestGap({ ...bonus!, schedule: { kind: "cron", cron }, timeZone, dstGap, dstOverlap }, at)!.gapMs;

  it.each([
    ["0 2 * * *", "UTC", dayMs],
    // The night in March has 23 hours.
    ["0 6 * * *", "Europe/London", 23 * hourMs],
    ["0 6 * * 0", "Europe/London", 7 * dayMs - hourMs],
    ["0 2 1 * *", "UTC", 28 * dayMs],
    ["*/5 * * * * *", "UTC", 5_000],
    ["0,50 * * * *", "UTC", 10 * 60_000],
    // Every half hour: the clock goes on in whole hours.
    ["*/30 * * * *", "America/New_York", 30 * 60_000],
  ])("of %s in %s", (cron, zone, expected) => {
    expect(gapOf(cron, zone)).toBe(expected);
  });

  it("is an hour where a local time comes twice and both count", () => {
    expect(gapOf("30 1 * * *", "Europe/London", "skip", "both")).toBe(hourMs);
    expect(gapOf("30 1 * * *", "Europe/London", "skip", "first")).toBe(dayMs);
  });

  it("is none for what people run", () => {
    expect(shortestGap({ ...bonus!, schedule: { kind: "manual" } }, at)).toBeNull();
  });
});
