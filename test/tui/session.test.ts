/** When the screen is drawn: what a person does at once, what comes by itself at a beat. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { startSession } from "../../src/tui/session.ts";
import { startState } from "../../src/tui/state/state.ts";
import { cluster } from "../support/ui-state.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

function open() {
  const start = startState({
    size: { columns: 80, rows: 24 },
    nowMs: 0,
    operator: false,
    readOnlyReason: "",
    storeOptions: [],
    inventory: null,
  });
  const session = startSession(start, { colour: false, ascii: false }, () => {});
  const draws: number[] = [];
  session.subscribeToDraw(() => draws.push(performance.now()));
  const news = () =>
    session.send({ type: "data", part: "cluster", value: cluster, nowMs: performance.now() });
  const key = (name: string) => session.send({ type: "key", key: name });
  return { session, draws, news, key };
}

test("news that come together are one frame, and frames of news keep their distance", () => {
  const { draws, news } = open();
  vi.advanceTimersByTime(1_000);
  for (let i = 0; i < 5; i++) news();
  expect(draws).toHaveLength(0);
  vi.advanceTimersByTime(20);
  expect(draws).toHaveLength(1);
  for (let i = 0; i < 90; i++) {
    news();
    vi.advanceTimersByTime(10);
  }
  expect(draws.length).toBeGreaterThan(5);
  expect(draws.length).toBeLessThanOrEqual(11);
});

test("a key is drawn at once, with the news that wait", () => {
  const { session, draws, news, key } = open();
  news();
  key("2");
  expect(draws).toHaveLength(1);
  expect(session.drawn()).toBe(session.current());
  vi.advanceTimersByTime(1_000);
  expect(draws).toHaveLength(1);
});

test("while keys come one after the other, news are drawn with them only, and once they stop by themselves", () => {
  const { session, draws, news, key } = open();
  for (let i = 0; i < 20; i++) {
    key(i % 2 ? "1" : "2");
    vi.advanceTimersByTime(20);
    news();
    vi.advanceTimersByTime(60);
  }
  expect(draws).toHaveLength(20);
  expect(session.drawn()).not.toBe(session.current());
  vi.advanceTimersByTime(200);
  expect(draws).toHaveLength(21);
  expect(session.drawn()).toBe(session.current());
});

test("keys that change nothing hold no news back", () => {
  const { draws, news, key } = open();
  for (let i = 0; i < 20; i++) {
    news();
    key("%");
    vi.advanceTimersByTime(60);
  }
  expect(draws.length).toBeGreaterThan(8);
});
