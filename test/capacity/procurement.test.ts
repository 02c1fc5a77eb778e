/** Machines from the catalogue: enough of everything, for the least money, and another answer when the catalogue is another. */
import { describe, expect, test } from "vitest";
import { configurations, type MachineDemand } from "../../src/capacity/procurement/configuration.ts";
import type { RolePage } from "../../src/capacity/procurement/page.ts";
import type { Catalogue, PartOf } from "../../src/spec/catalogue-schema.ts";
import { sheetUnderTest } from "../report/sheet-under-test.ts";

const sheet = sheetUnderTest();
const page = (name: string) => sheet.pages.find((one) => one.name === name)!;
const parts = (one: RolePage) =>
  one.configuration.lines.map(({ part, quantity }) => `${quantity} ${part.id}`);

test("the sheet has one page a role, executors one for each class", () => {
  expect(sheet.pages.map(({ name }) => name)).toEqual([
    "scheduler",
    "executor-cpu",
    "executor-memory",
    "executor-io",
    "record-store",
    "watchman",
  ]);
});

test("two specifications, not one: the scheduler is entry level with double power and a protected cache, executors are not the same machine", () => {
  const scheduler = page("scheduler");
  expect(scheduler.machines.value).toBe(2);
  expect(scheduler.configuration.cores).toBeLessThanOrEqual(4);
  expect(scheduler.powerSupplies).toBe(2);
  expect(parts(scheduler)).toContain("1 raid-protected");
  expect(parts(page("executor-cpu"))).not.toEqual(parts(scheduler));
  expect(page("executor-cpu").configuration.cores).toBeGreaterThan(4 * scheduler.configuration.cores);
  expect(
    page("executor-memory").configuration.memoryBytes / page("executor-memory").configuration.cores,
  ).toBeGreaterThan(
    2 * (page("executor-cpu").configuration.memoryBytes / page("executor-cpu").configuration.cores),
  );
  expect(page("watchman").machines.value).toBe(1);
});

test("the record store has power-loss protection and the room, flushes and writes that were computed", () => {
  const store = page("record-store");
  const drive = store.configuration.lines.find(({ part }) => part.type === "disk")!.part as PartOf<"disk">;
  expect(drive.powerLossProtection).toBe(true);
  expect(store.configuration.usableDiskBytes).toBeGreaterThanOrEqual(sheet.storage.figures.needed!.value);
  expect(drive.flushesPerSecond).toBeGreaterThanOrEqual(store.figures.flushesPerSecond!.value);
});

test("every machine's power supplies carry it with one lost, and its numbers add up", () => {
  for (const one of sheet.pages) {
    const { lines, watts, price } = one.configuration;
    expect(lines.reduce((sum, { part, quantity }) => sum + part.watts * quantity, 0)).toBe(watts);
    expect(lines.reduce((sum, { part, quantity }) => sum + part.price.amount * quantity, 0)).toBe(price);
    expect(watts).toBeLessThanOrEqual(one.powerSupplyWatts * Math.max(1, one.powerSupplies - 1));
  }
  expect(sheet.bill.reduce((sum, { total }) => sum + total, 0)).toBe(sheet.totals.price);
  expect(sheet.pages.reduce((sum, one) => sum + one.machines.value * one.configuration.price, 0)).toBe(
    sheet.totals.price,
  );
});

test("executors are sized for the month end, with one to spare, and rarer peaks are told", () => {
  const { machines, extra } = page("executor-cpu");
  const { atOnce, slots } = machines.inputs as { atOnce: number; slots: number };
  expect(machines.value).toBe(Math.ceil(atOnce / slots) + 1);
  expect(extra[0]?.formula).toMatch(/× 2\.5 at month end/);
  expect(sheet.notes.join()).toMatch(/quarter-end \(3\.5 ×\) runs take 1\.4 times as long/);
});

test("nothing that is offered beside the choice costs less", () => {
  for (const one of sheet.pages)
    for (const other of one.alternatives)
      expect(other.totalPrice).toBeGreaterThanOrEqual(one.machines.value * one.configuration.price);
});

test("every requirement has a test, and a number where its text names one", () => {
  for (const one of sheet.pages) {
    expect(one.requirements.length).toBeGreaterThanOrEqual(4);
    for (const { text, accept, limit } of one.requirements) {
      expect(accept.check).not.toBe("");
      expect(text).not.toMatch(/[{}]/);
      if ("atLeast" in accept && typeof accept.atLeast === "string") expect(limit?.value).toBeGreaterThan(0);
    }
  }
});

describe("a catalogue of one's own", () => {
  const price = { amount: 100, source: "test", date: "2026-01-01" };
  const base: Catalogue["parts"] = [
    {
      id: "s",
      type: "server",
      title: "s",
      sockets: 2,
      memorySlots: 8,
      driveBays: 4,
      powerSupplies: 2,
      powerSupplyWatts: 400,
      rackUnits: 1,
      watts: 50,
      price,
    },
    { id: "c", type: "cpu", title: "c", cores: 8, numaNodes: 2, watts: 80, price },
    { id: "m", type: "memory", title: "m", capacity: 16 * 2 ** 30, ecc: true, watts: 5, price },
    {
      id: "d",
      type: "disk",
      title: "d",
      media: "nvme",
      capacity: 1e12,
      powerLossProtection: true,
      readIops: 1e5,
      writeIops: 1e4,
      flushesPerSecond: 5_000,
      watts: 8,
      price,
    },
    { id: "n", type: "network", title: "n", gigabits: 10, ports: 2, watts: 10, price },
  ];
  const demand: MachineDemand = {
    role: "r",
    cores: 8,
    memoryBytes: 32 * 2 ** 30,
    diskBytes: 5e11,
    flushesPerSecond: 100,
    writeIops: 100,
    networkGigabits: 10,
    powerSupplies: 2,
    disk: { layout: "raid1", powerLossProtection: true, protectedRaidCache: false },
  };
  const pick = (change: Partial<MachineDemand>, some = base) =>
    configurations({ currency: "EUR", parts: some }, { ...demand, ...change })[0]!;
  const count = (id: string, change: Partial<MachineDemand>) =>
    pick(change).lines.find(({ part }) => part.id === id)?.quantity;

  test("sockets follow cores, modules follow memory and come in equal numbers for each NUMA node", () => {
    expect([count("c", {}), count("c", { cores: 9 })]).toEqual([1, 2]);
    expect([
      count("m", {}),
      count("m", { memoryBytes: 40 * 2 ** 30 }),
      count("m", { cores: 9, memoryBytes: 40 * 2 ** 30 }),
    ]).toEqual([2, 4, 4]);
  });
  test("drives follow layout, room and writes", () => {
    const layout = (name: "single" | "raid1" | "raid10" | "raid5" | "raid6", diskBytes: number) =>
      count("d", { disk: { ...demand.disk, layout: name }, diskBytes });
    expect([
      layout("single", 1e12),
      layout("raid1", 1e12),
      layout("raid10", 2e12),
      layout("raid5", 3e12),
      layout("raid6", 2e12),
    ]).toEqual([1, 2, 4, 4, 4]);
    expect(count("d", { disk: { ...demand.disk, layout: "raid5" }, writeIops: 40_000 })).toBe(4);
  });
  test.each([
    ["too much memory", { memoryBytes: 2 ** 40 }, /memory: 1024 GiB are needed/],
    ["too many cores", { cores: 64 }, /cores: 64 are needed/],
    ["too much room", { diskBytes: 9e12 }, /disk: 9 TB usable as raid1 with power-loss protection/],
    ["too many flushes", { flushesPerSecond: 9_999 }, /9999 flushes/],
    ["too fast a network", { networkGigabits: 100 }, /network: 100 Gbit\/s are needed/],
    ["too many supplies", { powerSupplies: 4 }, /power supplies: 4 are needed/],
    [
      "a protected controller nobody sells",
      { disk: { ...demand.disk, protectedRaidCache: true } },
      /RAID controller: one with a protected cache is needed/,
    ],
  ] as const)("%s: says what the catalogue lacks", (_, change, says) => {
    expect(() => pick(change)).toThrow(says);
  });
  test("a machine that its own supplies cannot feed is none", () => {
    const hungry = base.map((part) => (part.type === "cpu" ? { ...part, watts: 390 } : part));
    expect(() => pick({}, hungry)).toThrow(/power: .* W are more than s supplies/);
  });
});
