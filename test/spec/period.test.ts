/** The business period of a fire, by the local calendar. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { periodKey } from "../../src/spec/period.ts";

test.each([
  // unit, offset, zone, fire, key
  ["month", -1, "UTC", "2026-08-01T02:00:00Z", "2026-07"],
  ["month", 0, "UTC", "2026-08-01T02:00:00Z", "2026-08"],
  ["month", -1, "UTC", "2026-01-01T00:00:00Z", "2025-12"],
  ["month", -13, "UTC", "2026-01-31T23:59:59Z", "2024-12"],
  ["month", 1, "UTC", "2025-12-31T00:00:00Z", "2026-01"],
  // Still July in New York, already August in Tokyo.
  ["month", 0, "America/New_York", "2026-08-01T02:00:00Z", "2026-07"],
  ["month", 0, "Asia/Tokyo", "2026-07-31T16:00:00Z", "2026-08"],
  ["day", -1, "UTC", "2026-03-01T00:30:00Z", "2026-02-28"],
  ["day", -1, "UTC", "2024-03-01T00:30:00Z", "2024-02-29"],
  ["day", 0, "Asia/Kathmandu", "2026-03-01T18:14:59Z", "2026-03-01"],
  ["day", 0, "Asia/Kathmandu", "2026-03-01T18:15:00Z", "2026-03-02"],
  // The day of 23 hours, the day of 25 hours, and a day that begins at 01:00.
  ["day", -1, "Europe/Berlin", "2026-03-29T22:30:00Z", "2026-03-29"],
  ["day", -1, "Europe/Berlin", "2026-10-25T22:30:00Z", "2026-10-24"],
  ["day", 0, "America/Santiago", "2026-09-06T04:00:00Z", "2026-09-06"],
  // Samoa had no 30 December 2011: the day before the 31st is still called the 30th.
  ["day", -1, "Pacific/Apia", "2011-12-30T10:30:00Z", "2011-12-30"],
] as const)("%s %i in %s at %s is %s", (unit, offset, zone, fire, key) => {
  expect(periodKey({ unit, offset }, zone, new Date(fire))).toBe(key);
});

test("every day of a zone has a key of its own, in order", () => {
  const day = 86_400_000;
  fc.assert(
    fc.property(
      fc.constantFrom("UTC", "Europe/Berlin", "Australia/Lord_Howe", "Asia/Gaza", "America/St_Johns"),
      fc.date({ min: new Date("1980-01-01"), max: new Date("2090-01-01"), noInvalidDate: true }),
      (zone, fire) => {
        const key = periodKey({ unit: "day", offset: 0 }, zone, fire);
        const later = periodKey({ unit: "day", offset: 0 }, zone, new Date(fire.getTime() + 1.1 * day));
        expect(later > key).toBe(true);
        expect(periodKey({ unit: "month", offset: 0 }, zone, fire)).toBe(key.slice(0, 7));
        expect(periodKey({ unit: "day", offset: 1 }, zone, fire)).toBe(
          new Date(Date.parse(key) + day).toISOString().slice(0, 10),
        );
      },
    ),
  );
});
