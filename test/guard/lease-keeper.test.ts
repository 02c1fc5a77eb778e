/** The keeper of a lease: trusts earlier than the database, never later. */
import { afterEach, expect, test, vi } from "vitest";
import { LeaseKeeper, trustMarginMs } from "../../src/guard/lease-keeper.ts";

let nowMs = 0;
vi.mock("../../src/base/monotonic.ts", () => ({ monotonicMs: () => nowMs }));

function keeper(renew: () => Promise<boolean>) {
  vi.useFakeTimers();
  nowMs = 1_000;
  const lost: string[] = [];
  const trusted: number[] = [];
  const one = new LeaseKeeper({
    leaseMs: 3_000,
    renew,
    onLost: (reason) => lost.push(reason),
    onTrusted: (until) => trusted.push(until),
  });
  return { one, lost, trusted };
}

/** Timers and the monotonic clock move together, as they do in life. */
async function pass(ms: number): Promise<void> {
  for (let i = 0; i < ms; i += 10) {
    nowMs += 10;
    await vi.advanceTimersByTimeAsync(10);
  }
}

afterEach(() => vi.useRealTimers());

test("it is renewed every third of the lease, and trust counts from the moment of asking", async () => {
  const { one, lost, trusted } = keeper(async () => true);
  one.start(900);
  expect(trusted).toEqual([900 + 3_000 - trustMarginMs(3_000)]);
  await pass(10_000);
  expect(lost).toEqual([]);
  expect(trusted).toHaveLength(11);
  expect(one.isTrusted()).toBe(true);
});

test("refused: lost at once", async () => {
  const { one, lost } = keeper(async () => false);
  one.start(1_000);
  await pass(1_020);
  expect(lost).toHaveLength(1);
  expect(one.isTrusted()).toBe(false);
});

test("errors are retried until trust ends, which is before the lease does", async () => {
  const renew = vi.fn(async () => Promise.reject(new Error("cut")));
  const { one, lost } = keeper(renew);
  one.start(1_000);
  await pass(3_000 - trustMarginMs(3_000) - 20);
  expect(lost).toEqual([]);
  await pass(40);
  expect(lost).toEqual([expect.stringMatching(/not renewed in time \(cut\)/)]);
  expect(renew.mock.calls.length).toBeGreaterThan(3);
});

test("a renewal that hangs does not keep the next from being tried", async () => {
  const renew = vi
    .fn<() => Promise<boolean>>()
    .mockReturnValueOnce(new Promise(() => {}))
    .mockResolvedValue(true);
  const { one, lost } = keeper(renew);
  one.start(1_000);
  await pass(6_000);
  expect(lost).toEqual([]);
  one.stop();
});

test("an error and then success is no loss", async () => {
  const renew = vi
    .fn<() => Promise<boolean>>()
    .mockRejectedValueOnce(new Error("cut"))
    .mockResolvedValue(true);
  const { one, lost } = keeper(renew);
  one.start(1_000);
  await pass(9_000);
  expect(lost).toEqual([]);
});

test("frozen past the end: the first look at the clock says so, before any timer", () => {
  const { one, lost } = keeper(async () => true);
  one.start(1_000);
  nowMs += 60_000;
  expect(one.isTrusted()).toBe(false);
  expect(lost).toHaveLength(1);
});

test("stopped: nothing more happens", async () => {
  const renew = vi.fn(async () => true);
  const { one, lost } = keeper(renew);
  one.start(1_000);
  one.stop();
  await pass(10_000);
  expect(renew).not.toHaveBeenCalled();
  expect(lost).toEqual([]);
});
