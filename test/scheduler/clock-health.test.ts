/** When a scheduler's clock is too wrong, and for whom it steps aside. */

import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { monotonicMs } from "../../src/base/monotonic.ts";
import { ClockDuty, ClockIsOff } from "../../src/scheduler/clock-duty.ts";
import { ClockHealth, healthierThanUs, type OtherScheduler } from "../../src/scheduler/clock-health.ts";
import { acquireLeadership } from "../../src/store/leadership.ts";
import { noteScheduler } from "../../src/store/scheduler-row.ts";
import { Bench } from "../store/bench.ts";

test.each([
  { readings: [[900, 10]], offMs: 0, why: "one measurement alone" },
  {
    readings: [
      [900, 10],
      [905, 10],
    ],
    offMs: 890,
    why: "two that agree",
  },
  {
    readings: [
      [-900, 10],
      [-905, 10],
    ],
    offMs: 890,
    why: "behind is as bad as ahead",
  },
  {
    readings: [
      [3, 1],
      [700, 2],
      [4, 1],
    ],
    offMs: 3,
    why: "one that was an accident",
  },
  {
    readings: [
      [700, 650],
      [700, 690],
    ],
    offMs: 10,
    why: "a slow network is no wrong clock",
  },
  {
    readings: [
      [2_000, 1],
      [2_000, 1],
      [5, 1],
    ],
    offMs: 4,
    why: "right again",
  },
])("a clock is off by what cannot be an error: $why", ({ readings, offMs }) => {
  const health = new ClockHealth();
  for (const [offset, error] of readings) health.observe(offset!, error!);
  expect(health.offMs).toBe(offMs);
});

const other: OtherScheduler = { node: "b", role: "standby", timeZoneData: "2025c", offsetMs: 4 };
const us = { node: "a", timeZoneData: "2025c" };

test.each<[string, Partial<OtherScheduler>, number]>([
  ["a standby with a right clock", {}, 1],
  ["the leader of the moment", { role: "leader" }, 1],
  ["one that is silent", { role: "silent" }, 0],
  ["one that was stopped", { role: "stopped" }, 0],
  ["one with other time-zone data", { timeZoneData: "1999z" }, 0],
  ["one whose clock is as wrong", { offsetMs: -300_000 }, 0],
  ["one whose clock is not known", { offsetMs: null }, 0],
  ["ourselves", { node: "a" }, 0],
])("who could lead instead: %s", (_, change, count) => {
  expect(healthierThanUs([{ ...other, ...change }], us, 1_000)).toHaveLength(count);
});

/** A duty whose wall clock is off by so much: the readings are shifted, since no test may move this host's clock. */
async function duty(bench: Bench, offMs: number, leaseMs = 60_000): Promise<ClockDuty> {
  const settings = {
    ...{ leaseMs, renewEveryMs: 1_000, stopEarlyMs: 500, lookAheadMs: 120_000, maxSleepMs: 1_000, nodes: [] },
    ...{ clockLeaveMs: 500, clockRefuseMs: 1_000 },
  };
  const clock = new ClockDuty({ db: bench.db, settings, ...us });
  for (let i = 0; i < 2; i += 1) {
    const sentMs = monotonicMs();
    clock.observe({ now: new Date(Date.now() - offMs), sentMs, receivedMs: monotonicMs() });
  }
  return clock;
}

async function standby(bench: Bench, offsetMs: number): Promise<void> {
  await noteScheduler(bench.db, {
    ...{ incarnation: randomUUID(), node: "b", host: "h", pid: 1, version: "0", timeZoneData: "2025c" },
    ...{ role: "standby" as const, http: null, offsetMs },
  });
}

test("above half a second it is not ready; above a second it yields to a standby that is right", async () => {
  const bench = await Bench.open();
  await standby(bench, 3);
  const right = await duty(bench, 20);
  expect(right.notReady()).toBeNull();
  await right.requireFit();
  const wrong = await duty(bench, 700);
  expect(wrong.notReady()).toMatch(/clock is (69\d|70\d) ms off/);
  await wrong.requireFit();
  expect(await wrong.waitsForHealthier()).toBe(false);
  const refused = await duty(bench, -300_000);
  await expect(refused.requireFit()).rejects.toBeInstanceOf(ClockIsOff);
  expect(await refused.waitsForHealthier()).toBe(true);
});

test("with nobody better it leads, and it does not wait for one that does not come", async () => {
  const bench = await Bench.open();
  const alone = await duty(bench, 300_000);
  await alone.requireFit();
  expect(await alone.waitsForHealthier()).toBe(false);
  await standby(bench, -300_000);
  await alone.requireFit();
  await standby(bench, 3);
  const impatient = await duty(bench, 300_000, 0);
  expect(await impatient.waitsForHealthier()).toBe(false);
  const patient = await duty(bench, 300_000);
  expect(await patient.waitsForHealthier()).toBe(true);
  await acquireLeadership(bench.db, { holder: randomUUID(), node: "b", host: "h" }, 60_000);
  expect(await patient.waitsForHealthier()).toBe(false);
});
