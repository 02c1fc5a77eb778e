/** Which zone names are accepted, and when clocks change. */
import { expect, test } from "vitest";
import { closestZone, isKnownZone, nextOffsetChange } from "../../src/spec/time-zone.ts";

test.each(["UTC", "GMT", "Europe/Berlin", "Asia/Kolkata", "Asia/Calcutta", "Etc/GMT+3", "CET", "Japan"])(
  "%s is known",
  (name) => expect(isKnownZone(name)).toBe(true),
);

// BST is Bangladesh to Node and Britain to everyone else.
test.each([
  "",
  "Berlin",
  "europe/berlin",
  "+02:00",
  "BST",
  "IST",
  "PST",
  "Mars/Phobos",
  "Europe/Berlin ",
  "../etc",
])("%j is not", (name) => expect(isKnownZone(name)).toBe(false));

test.each([
  ["Berlin", "Europe/Berlin"],
  ["new york", "America/New_York"],
  ["Europe/Berln", "Europe/Berlin"],
  ["europe/berlin", "Europe/Berlin"],
  ["utc", "UTC"],
  ["somewhere else entirely", undefined],
])("%j was meant as %j", (name, zone) => expect(closestZone(name)).toBe(zone));

test.each([
  ["UTC", "2026-01-15", null],
  ["Asia/Kolkata", "2026-01-15", null],
  ["Asia/Shanghai", "2026-01-15", null],
  // First day that begins (00:00 UTC) with the new offset.
  ["Europe/Berlin", "2026-01-15", "2026-03-30"],
  ["Europe/Berlin", "2026-03-30", "2026-10-26"],
  ["Australia/Lord_Howe", "2026-01-15", "2026-04-05"],
])("the clocks of %s after %s change by %s", (zone, now, day) => {
  expect(nextOffsetChange(zone, new Date(now))?.toISOString().slice(0, 10) ?? null).toBe(day);
});

test("the pause of Ramadan, a month long, is seen", () => {
  expect(nextOffsetChange("Africa/Casablanca", new Date("2026-01-15"))).not.toBeNull();
});
