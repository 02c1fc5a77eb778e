/** Instants as people write them. */
import { expect, test } from "vitest";
import { parseInstant } from "../../src/base/instant.ts";

test.each([
  ["2026-07-01T02:00:00Z", "2026-07-01T02:00:00.000Z"],
  ["2026-07-01 02:00+02:00", "2026-07-01T00:00:00.000Z"],
  ["2028-02-29T00:00:00Z", "2028-02-29T00:00:00.000Z"],
  ["2026-12-31T23:59:59.999-11:00", "2027-01-01T10:59:59.999Z"],
])("%s", (text, expected) => {
  expect(parseInstant(text).toISOString()).toBe(expected);
});

test.each([
  ["2026-02-30T00:00:00Z"],
  ["2027-02-29T00:00:00Z"],
  ["2026-11-31T23:00:00-05:00"],
  ["2026-13-01T00:00:00Z"],
  ["2026-00-10T00:00:00Z"],
  ["2026-07-01T02:00:00"],
  ["2026-07-01"],
])("%s is no instant, and no other day either", (text) => {
  expect(() => parseInstant(text)).toThrow(expect.objectContaining({ code: "E_INSTANT" }));
});
