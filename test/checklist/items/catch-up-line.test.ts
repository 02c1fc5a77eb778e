/** How long catch-up takes alone and in line, by figures that can be checked by hand. */
import { describe, expect, test } from "vitest";
import {
  aloneMs,
  type CatchUpWork,
  classSlots,
  lineMs,
  slowness,
} from "../../../src/checklist/items/catch-up-line.ts";

const minuteMs = 60_000;
const work = (fires: number, shards: number, minutes: number, sideBySide = false): CatchUpWork => ({
  fires,
  shards,
  durationMs: minutes * minuteMs,
  sideBySide,
});

describe("slots that catch-up may use", () => {
  test.each([
    [8, 0.5, 4],
    [8, 0.25, 2],
    [9, 0.5, 4],
    [1, 0.5, 1],
    [8, 0, 1],
  ])("of %i, with a share of %d: %i", (all, share, free) => {
    expect(classSlots(all, share)).toEqual({ all, free });
  });
});

describe("alone", () => {
  test.each([
    ["one shard is no slower on fewer slots", work(3, 1, 10), 8, 0.5, 1, 30],
    ["as many shards as all slots have half of them", work(3, 8, 10), 8, 0.5, 2, 60],
    ["more shards than slots: all slots were busy before", work(2, 100, 10), 8, 0.25, 4, 80],
    ["fewer shards than are free", work(5, 4, 2), 8, 0.5, 1, 10],
    ["between the two", work(1, 6, 10), 8, 0.5, 1.5, 15],
    ["one slot in all", work(2, 4, 10), 1, 0.5, 1, 20],
  ])("%s", (_, one, all, share, slow, minutes) => {
    const slots = classSlots(all, share);
    expect(slowness(one, slots)).toBe(slow);
    expect(aloneMs(one, slots)).toBe(minutes * minuteMs);
  });
});

describe("in line", () => {
  test.each([
    ["nobody else", 3, [], 0],
    ["one execution of another job for each of one's own", 2, [work(2, 1, 10)], 20],
    ["not more than the other has", 5, [work(1, 1, 10)], 10],
    ["not more than one's own times", 1, [work(5, 1, 10)], 10],
    ["all of one that may have them open side by side", 1, [work(5, 1, 10, true)], 50],
    ["shards keep a slot each, all slots at most", 1, [work(1, 4, 10), work(1, 100, 10)], 40 + 80],
  ])("%s", (_, fires, others, minutes) => {
    expect(lineMs(fires, others, classSlots(8, 0.5))).toBe(minutes * minuteMs);
  });
});
