import { describe, expect, it } from "vitest";
import { hasTransitionsAhead, tzdataVersion, Zone, zoneOf } from "../../src/schedule/zone.ts";

const sec = (text: string) => Date.parse(text) / 1000;
const hour = 3600;

describe("zone", () => {
  it("finds the changes of a year, to the second", () => {
    expect(zoneOf("Europe/Berlin").transitions(sec("2026-01-01T00:00Z"), sec("2027-01-01T00:00Z"))).toEqual([
      { sec: sec("2026-03-29T01:00Z"), offsetBefore: hour, offsetAfter: 2 * hour },
      { sec: sec("2026-10-25T01:00Z"), offsetBefore: 2 * hour, offsetAfter: hour },
    ]);
    expect(zoneOf("Pacific/Apia").transitions(sec("2011-12-01T00:00Z"), sec("2012-01-15T00:00Z"))).toEqual([
      { sec: sec("2011-12-30T10:00Z"), offsetBefore: -10 * hour, offsetAfter: 14 * hour },
    ]);
  });

  it("knows the far end of its horizon, where seconds no longer fit 31 bits", () => {
    const changes = zoneOf("Europe/Berlin").transitions(sec("2198-01-01T00:00Z"), sec("2199-01-01T00:00Z"));
    expect(changes.map((change) => new Date(change.sec * 1000).toISOString())).toEqual([
      "2198-03-25T01:00:00.000Z",
      "2198-10-28T01:00:00.000Z",
    ]);
  });

  it("answers the same whatever part of it was asked for first", () => {
    const instants = [
      "1999-07-01T00:00Z",
      "2040-01-01T00:00Z",
      "2010-10-31T01:00Z",
      "1975-05-01T00:00Z",
      "2022-10-28T00:00Z",
    ];
    for (const name of ["America/New_York", "Asia/Amman", "Africa/Casablanca", "Asia/Tokyo"]) {
      const orders = [instants, [...instants].reverse(), [...instants].sort()];
      const answers = orders.map((order) => {
        const zone = new Zone(name);
        for (const at of order) zone.offsetAt(sec(at));
        return [
          instants.map((at) => zone.offsetAt(sec(at))),
          zone.transitions(sec("1975-01-01T00:00Z"), sec("2041-01-01T00:00Z")),
        ];
      });
      expect(answers[1]).toEqual(answers[0]);
      expect(answers[2]).toEqual(answers[0]);
    }
  });

  it("UTC never changes and costs no search", () => {
    expect(zoneOf("UTC").transitions(0, sec("2199-01-01T00:00Z"))).toEqual([]);
    expect(zoneOf("UTC").offsetAt(sec("2026-07-01T00:00Z"))).toBe(0);
  });

  it("knows which zones still change", () => {
    const from = Date.UTC(2026, 0);
    const changing = ["Europe/Berlin", "America/Santiago", "Africa/Casablanca", "Australia/Lord_Howe"];
    const fixed = ["UTC", "Asia/Kolkata", "America/Sao_Paulo", "Asia/Amman", "Etc/GMT+5", "Asia/Tokyo"];
    expect(changing.filter((zone) => !hasTransitionsAhead(zone, from))).toEqual([]);
    expect(fixed.filter((zone) => hasTransitionsAhead(zone, from))).toEqual([]);
    expect(hasTransitionsAhead("America/Sao_Paulo", Date.UTC(2018, 0))).toBe(true);
  });

  it("names the time-zone data", () => {
    expect(tzdataVersion).toMatch(/^20\d\d[a-z]$/);
  });
});

describe("zone names", () => {
  const unknown: [string, string | undefined][] = [
    ["Europe/Berln", "Europe/Berlin"],
    ["europe/berlin", "Europe/Berlin"],
    ["Berlin", "Europe/Berlin"],
    ["America/New York", "America/New_York"],
    ["Asia/Calcuta", "Asia/Calcutta"],
    ["utc", "UTC"],
    ["UCT+1", undefined],
    ["BST", undefined],
    ["IST", undefined],
    ["+01:00", undefined],
    ["SystemV/EST5", undefined],
    ["", undefined],
    ["Mars/Olympus_Mons", undefined],
  ];

  it.each(unknown)("%j is refused", (name, suggestion) => {
    let hint = "";
    try {
      zoneOf(name);
    } catch (error) {
      hint =
        (error as { code: string; hint: string }).code === "E_ZONE_UNKNOWN"
          ? (error as { hint: string }).hint
          : String(error);
    }
    expect(hint).toContain("use an IANA name");
    if (suggestion !== undefined) expect(hint).toContain(`did you mean ${suggestion}?`);
  });

  it.each(["Asia/Kolkata", "US/Eastern", "Etc/GMT-14", "CET", "GMT", "America/Argentina/Buenos_Aires"])(
    "%s is accepted",
    (name) => {
      expect(zoneOf(name).name).toBe(name);
    },
  );
});
