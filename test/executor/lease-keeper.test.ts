/** The lease of an incarnation, with a store that answers when the test says so. */
import { expect, test } from "vitest";
import { monotonicMs } from "../../src/base/monotonic.ts";
import { LeaseKeeper } from "../../src/executor/lease-keeper.ts";
import type { Queryable } from "../../src/store/database.ts";
import { until } from "../support/until.ts";

const settings = { leaseMs: 4_000, renewEveryMs: 50, stopEarlyMs: 500 };
const log = { info() {}, warn() {}, error() {}, debug() {} };

/** As for a process on a machine that gives it no time. */
function standStill(untilMs: number): void {
  while (monotonicMs() < untilMs);
}

function scene(onRenewal: (keeper: LeaseKeeper, nth: number) => void) {
  const told: string[] = [];
  let renewals = 0;
  const db = {
    query: async () => {
      onRenewal(keeper, ++renewals);
      return { rows: [{ now: new Date() }] };
    },
  } as unknown as Queryable;
  const hooks = { onRenewed: () => void told.push("renewed"), onLost: (why: string) => void told.push(why) };
  const keeper: LeaseKeeper = new LeaseKeeper("one", monotonicMs(), db, settings, hooks, log);
  return { keeper, told };
}

test("is trusted for as long as it is renewed", async () => {
  const { keeper, told } = scene(() => {});
  keeper.start();
  await until(() => told.length >= 3, { what: "three renewals", deadlineMs: 10_000, everyMs: 5 });
  expect(keeper.trusted).toBe(true);
  expect(new Set(told)).toEqual(new Set(["renewed"]));
  keeper.end();
});

test("once it was not trusted it is lost for good, even where the renewal is answered at last", async () => {
  const seen: boolean[] = [];
  const { keeper, told } = scene((keeper, nth) => {
    if (nth !== 2) return;
    standStill(keeper.trustedUntilMs + 5);
    seen.push(keeper.trusted);
  });
  keeper.start();
  await until(() => keeper.lost || told.length > 4, {
    what: "a lost lease",
    deadlineMs: 10_000,
    everyMs: 5,
  });
  expect(seen).toEqual([false]);
  expect(keeper.trusted).toBe(false);
  expect(told).toEqual(["renewed", "its renewal was answered too late"]);
});
