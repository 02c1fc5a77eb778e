/** One test file a scenario group: every statement and request, before and after, every fault. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Fault, FaultLab, faults, type Point } from "./fault-lab.ts";
import { type JobTask, runJob } from "./scenarios.ts";
import { expectWhole, verdicts } from "./verdict.ts";

/** Trials at a time; they mostly wait for leases to end. */
const lanes = 8;

export function driveFaults(names: readonly string[]): void {
  let lab: FaultLab;
  beforeAll(async () => {
    lab = await FaultLab.open();
  });
  afterAll(() => lab?.close());

  describe.each(names)("%s", (scenario) => {
    test.each(faults)("%s at every statement and every request", { timeout: 600_000 }, async (fault) => {
      const { points, hits, statements, requests } = await driveAll(lab, scenario, fault);
      console.log(`${scenario}: ${fault} at ${hits} points (${statements} statements, ${requests} requests)`);
      // The last statement is not reached when a run needed one renewal less.
      expect(hits).toBeGreaterThanOrEqual(points - 2);
    });
  });
}

/** Every point of one scenario with one fault. @throws the first verdict that is not good */
export async function driveAll(lab: FaultLab, scenario: string, fault: Fault) {
  const { statements, requests } = await lab.measure(scenario);
  const points = [
    ...Array.from({ length: statements * 2 }, (_, i): Point => {
      return { at: "statement", stop: { statement: (i >> 1) + 1, when: i % 2 === 0 ? "before" : "after" } };
    }),
    ...Array.from({ length: requests * 2 }, (_, i): Point => {
      return {
        at: "request",
        stop: { request: (i >> 1) + 1, when: i % 2 === 0 ? "before-accept" : "before-answer" },
      };
    }),
  ];
  const hits = await inLanes(points, (point) => trial(lab, scenario, point, fault));
  return { points: points.length, hits: hits.filter(Boolean).length, statements, requests };
}

async function trial(lab: FaultLab, scenario: string, point: Point, fault: Fault): Promise<boolean> {
  const look = (task: JobTask) => expectWhole(lab, task);
  // On a slow machine a short lease ends before the point is reached: once more, with a longer one.
  const outcome =
    (await lab.run(scenario, point, fault, look)) ??
    (await lab.run(scenario, point, fault, look, 4)) ??
    (await lab.run(scenario, point, fault, look, 12));
  if (outcome === undefined) return false;
  const { task, text, end } = outcome;
  try {
    await verdicts[scenario]!(lab, task, end, () => runJob(task));
  } catch (error) {
    const where = `${fault} ${JSON.stringify(point.stop)} at ${text}`;
    throw new Error(`${where}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
  return true;
}

async function inLanes<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const lane = async () => {
    while (next < items.length) {
      const index = next++;
      results[index] = await work(items[index]!);
    }
  };
  // All lanes come to rest before the first failure is told: nothing may run into the next test.
  const ends = await Promise.allSettled(Array.from({ length: lanes }, lane));
  for (const end of ends) if (end.status === "rejected") throw end.reason;
  return results;
}
