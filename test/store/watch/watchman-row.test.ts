/** The note that a watchman was asked to end: neither a store that answers nor one that does not holds it up. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Queryable } from "../../../src/store/database.ts";
import { noteWatchmanEnd } from "../../../src/store/watch/watchman-row.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const who = { node: "w", host: "h", pid: 7, version: "0" };
const storeThat = (query: () => Promise<unknown>) => ({ query }) as unknown as Queryable;

test.each([
  ["answers", async () => ({ rows: [], rowCount: 1 })],
  ["refuses", async () => Promise.reject(new Error("away"))],
])("once a store %s nothing keeps the process alive", async (_, query) => {
  await noteWatchmanEnd(storeThat(query), who);
  expect(vi.getTimerCount()).toBe(0);
});

test("a store that says nothing is waited for, and not for long", async () => {
  const ended = vi.fn();
  noteWatchmanEnd(
    storeThat(() => new Promise(() => {})),
    who,
  ).then(ended);
  await vi.advanceTimersByTimeAsync(1_900);
  expect(ended).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(200);
  expect(ended).toHaveBeenCalledOnce();
});
