/** A step that takes long says so again and again, until it has ended. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { withStillAtIt } from "../../../src/cli/playbook/still-at-it.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test("each host that is at work, for as long as it is", () => {
  const lines: string[] = [];
  const told: string[] = [];
  const tell = withStillAtIt(
    (event) => told.push(event.event),
    (line) => lines.push(line),
  );
  const store = { step: "postgresql", host: "store-1" };
  tell({ event: "begin", ...store });
  vi.advanceTimersByTime(15_000);
  tell({ event: "begin", step: "postgresql", host: "store-2" });
  vi.advanceTimersByTime(26_000);
  expect(lines).toEqual([
    "  store-1  still at it after 20s",
    "  store-2  still at it after 20s",
    "  store-1  still at it after 40s",
  ]);
  tell({ event: "end", ...store, outcome: "done", because: "" });
  vi.advanceTimersByTime(20_000);
  expect(lines.slice(3)).toEqual(["  store-2  still at it after 40s"]);
  tell({ event: "end", step: "postgresql", host: "store-2", outcome: "failed", because: "" });
  vi.advanceTimersByTime(600_000);
  expect(lines).toHaveLength(4);
  expect(told).toEqual(["begin", "begin", "end", "end"]);
});
