/** Times as people ask about them, on ordinary nights and on those when the clock changes. */
import { expect, test } from "vitest";
import { parseMoment } from "../../../src/watchman/diagnose/local-moment.ts";

const now = new Date("2026-07-15T12:00:00Z");

test.each([
  ["2026-07-01T02:00:00Z", "UTC", "ordinary", ["2026-07-01T02:00:00.000Z"]],
  ["2026-07-01T02:00:00+02:00", "UTC", "ordinary", ["2026-07-01T00:00:00.000Z"]],
  ["2026-07-01 02:00", "Europe/Berlin", "ordinary", ["2026-07-01T00:00:00.000Z"]],
  ["2026-01-01T02:00:30", "Asia/Shanghai", "ordinary", ["2025-12-31T18:00:30.000Z"]],
  ["02:00", "Asia/Shanghai", "ordinary", ["2026-07-14T18:00:00.000Z"]],
  ["23:00", "Asia/Shanghai", "ordinary", ["2026-07-14T15:00:00.000Z"]],
  ["2026-03-29T02:30", "Europe/Berlin", "gap", ["2026-03-29T01:00:00.000Z"]],
  ["2026-10-25T02:30", "Europe/Berlin", "overlap", ["2026-10-25T00:30:00.000Z", "2026-10-25T01:30:00.000Z"]],
  ["2026-03-08 02:30", "America/New_York", "gap", ["2026-03-08T07:00:00.000Z"]],
  [
    "2026-04-05T01:45",
    "Australia/Lord_Howe",
    "overlap",
    ["2026-04-04T14:45:00.000Z", "2026-04-04T15:15:00.000Z"],
  ],
  ["2011-12-30T12:00", "Pacific/Apia", "gap", ["2011-12-30T10:00:00.000Z"]],
])("%s in %s is %s", (text, zone, clock, instants) => {
  const moment = parseMoment(text, zone, now);
  expect([moment.clock, moment.instants.map((one) => one.toISOString())]).toEqual([clock, instants]);
});

test.each(["", "2 o'clock", "25:00", "2026-02-30T02:00", "2026-07-01", "2026-07-01T02:00:00+99:99"])(
  "%j is refused with what would be accepted",
  (text) => expect(() => parseMoment(text, "UTC", now)).toThrow(/TIME/),
);
