import { expect, test } from "vitest";
import { LeaseObserver, type ObservedLease } from "../../src/store/lease-observer.ts";

const lease = (until: number, expired: boolean, incarnation = "a"): ObservedLease => ({
  incarnation,
  leaseUntil: new Date(until),
  leaseMs: 10_000,
  expired,
});
const names = (leases: readonly ObservedLease[]) => leases.map((one) => one.incarnation);

/** Looks once a second from `from` to `to`, and returns what was called dead at each look. */
function watch(observer: LeaseObserver, from: number, to: number, see: (second: number) => ObservedLease[]) {
  const dead: Record<number, string[]> = {};
  for (let second = from; second <= to; second += 1) {
    const found = names(observer.observe(see(second), second * 1_000));
    if (found.length > 0) dead[second] = found;
  }
  return dead;
}

test("dead: expired, and unchanged for a whole lease", () => {
  const dead = watch(new LeaseObserver(), 0, 11, (second) => [lease(5_000, second > 5)]);
  expect(dead).toEqual({ 10: ["a"], 11: ["a"] });
});

test("a lease that is renewed is not dead, even if the database's clock calls it expired", () => {
  const dead = watch(new LeaseObserver(), 0, 60, (second) => [lease(Math.floor(second / 5), true)]);
  expect(dead).toEqual({});
});

test("a clock that jumps ahead makes nobody dead at once", () => {
  const observer = new LeaseObserver();
  expect(watch(observer, 0, 3, (second) => [lease(second, false)])).toEqual({});
  const dead = watch(observer, 4, 14, () => [lease(3, true)]);
  expect(dead).toEqual({ 13: ["a"], 14: ["a"] });
});

test("an unchanged lease that the database does not call expired is not dead", () => {
  expect(watch(new LeaseObserver(), 0, 30, () => [lease(1, false)])).toEqual({});
});

test.each([
  ["the store was away", (observer: LeaseObserver) => observer.forget(), 9],
  ["we were stopped", () => {}, 17],
])("%s: the observation starts anew", (_name, happen, at) => {
  const observer = new LeaseObserver();
  watch(observer, 0, 8, () => [lease(1, true)]);
  happen(observer);
  expect(watch(observer, at, at + 10, () => [lease(1, true)])).toEqual({ [at + 10]: ["a"] });
});

test("each lease has an observation of its own; one that has gone is forgotten", () => {
  const observer = new LeaseObserver();
  const dead = watch(observer, 0, 14, (second) => [
    ...(second === 3 ? [] : [lease(1, true, "comes-back")]),
    lease(1, true, "stays"),
  ]);
  expect(dead[10]).toEqual(["stays"]);
  expect(dead[14]).toEqual(["comes-back", "stays"]);
  expect(dead[13]).toEqual(["stays"]);
});
