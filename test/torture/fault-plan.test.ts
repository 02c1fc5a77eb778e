import { expect, test } from "vitest";
import { type FaultStep, faultKinds, lanes, phases, planLane } from "./fault-plan.ts";

function take(count: number, seed: number, cluster: number, lane: (typeof lanes)[number]): FaultStep[] {
  const steps: FaultStep[] = [];
  for (const step of planLane(seed, cluster, lane)) {
    steps.push(step);
    if (steps.length === count) break;
  }
  return steps;
}

test("a seed gives the same steps again, another seed, cluster or lane gives others", () => {
  const first = take(200, 42, 0, "executors");
  expect(take(200, 42, 0, "executors")).toEqual(first);
  expect(take(200, 43, 0, "executors")).not.toEqual(first);
  expect(take(200, 42, 1, "executors")).not.toEqual(first);
});

test("a thousand steps aim at every phase and use every kind of fault", () => {
  const steps = lanes.flatMap((lane) => take(lane === "surroundings" ? 60 : 470, 7, 0, lane));
  const aims = new Set<string>(steps.map((step) => step.aim));
  // The store is down when another step took it down; the plan says so by `whileDown`.
  if (steps.some((step) => step.whileDown)) aims.add("store-down");
  expect([...phases].filter((phase) => !aims.has(phase))).toEqual([]);
  expect(faultKinds.filter((kind) => !steps.some((step) => step.kind === kind))).toEqual([]);
});

test("freezes last from 1 to 9 seconds, and steps never wait for less than nothing", () => {
  for (const step of lanes.flatMap((lane) => take(500, 11, 2, lane))) {
    expect(step.pauseMs).toBeGreaterThanOrEqual(0);
    if (step.kind.startsWith("freeze")) {
      expect(step.lastsMs).toBeGreaterThanOrEqual(1_000);
      expect(step.lastsMs).toBeLessThanOrEqual(9_000);
    }
  }
});
