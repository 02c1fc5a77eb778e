/** What several tools say about one drive, brought together. */
import { describe, expect, test } from "vitest";
import { seenOf } from "../../src/base/fact.ts";
import { examine } from "../../src/hardware/findings/examine.ts";
import { parseGathered } from "../../src/hardware/gather/gathered.ts";
import type { DiskFacts } from "../../src/hardware/host-facts.ts";
import { replyOf } from "./reply.ts";

const nonce = "drives12";

const ocp = (fields: Readonly<Record<string, unknown>>) =>
  JSON.stringify({
    "Uncorrectable read error count": 0,
    "System data percent used": 1,
    "Incomplete shutdowns": 0,
    "Capacitor health": 100,
    "Log page GUID": "0xafd514c97c6f4f9ca4f2bfea2810afc5",
    ...fields,
  });
const healthy = {
  critical_warning: 0,
  avail_spare: 100,
  spare_thresh: 10,
  percent_used: 3,
  media_errors: 0,
  power_on_hours: 900,
};

function drive(cache: "write back" | "write through", vwc: number, page?: string, log: object = healthy) {
  const facts = parseGathered(
    replyOf(nonce, {
      block: `disk nvme0n1\nsize=1000\nrotational=0\nwrite_cache=${cache}\nscheduler=[none]\npath=../devices/pci0/nvme/nvme0/nvme0n1\n`,
      "nvme-id:nvme0n1": JSON.stringify({ mn: "EXAMPLE", vwc }),
      "nvme-smart:nvme0n1": JSON.stringify(log),
      ...(page !== undefined && { "nvme-ocp:nvme0n1": page }),
    }),
    nonce,
  );
  return { disk: seenOf(facts.disks)[0] as DiskFacts, facts };
}

describe("an NVMe drive", () => {
  test.each([
    ["a cache that needs power and good capacitors", "write back", 7, ocp({}), true],
    [
      "a cache that needs power and no capacitors",
      "write back",
      7,
      ocp({ "Capacitor health": 65_535 }),
      false,
    ],
    [
      "no cache that needs power, and no capacitors",
      "write through",
      6,
      ocp({ "Capacitor health": 65_535 }),
      true,
    ],
    [
      "no cache that needs power, by capacitors that are empty",
      "write through",
      6,
      ocp({ "Capacitor health": 0 }),
      false,
    ],
  ] as const)("%s", (_, cache, vwc, page, expected) => {
    expect(drive(cache, vwc, page).disk.powerLossProtection).toEqual({ known: expected });
  });

  test.each([
    ["no such page", undefined],
    ["a page of somebody else's", ocp({ "Log page GUID": "0x1" })],
    ["an answer that was cut", ocp({}).slice(0, -20)],
  ])("%s: a cache that needs power stays unknown", (_, page) => {
    const { disk, facts } = drive("write back", 7, page);
    expect(disk.powerLossProtection).toEqual({
      unknown: "the drive has a cache that needs power and does not say whether it is protected",
    });
    expect(examine(facts).passed.map(({ id }) => id)).not.toContain("ssd-without-power-loss-protection");
  });

  test("what the page holds against it counts beside its own log", () => {
    const { disk, facts } = drive("write back", 7, ocp({ "Incomplete shutdowns": 2 }), {
      ...healthy,
      media_errors: 5,
    });
    expect(disk.capacitorPercent).toEqual({ known: 100 });
    expect(disk.health.problems).toEqual({
      known: ["5 media errors", "2 stops at which not everything was saved"],
    });
    expect(examine(facts).findings.map(({ id }) => id)).toContain("disk-failing");
  });

  test("the page alone does not make a drive well whose log was not read", () => {
    const { disk } = drive("write back", 7, ocp({}), {});
    expect(disk.health.problems).toHaveProperty("unknown");
  });

  test.each([
    [0, "not working", "its capacitors hold 0 % of what they should"],
    [65_535, "not there", "the drive says that it has no capacitors"],
  ])("capacitors at %i are told as %s", (capacitors, lack, evidence) => {
    const { facts } = drive("write back", 7, ocp({ "Capacitor health": capacitors }));
    const finding = examine(facts).findings.find(({ id }) => id === "ssd-without-power-loss-protection");
    expect(finding).toMatchObject({ reason: expect.stringContaining(lack), evidence });
  });
});
