/** One test file a scenario group: every statement and request, before and after, every fault. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Fault, FaultLab, faults, type Point } from "./fault-lab.ts";
import { type JobTask, runJob } from "./scenarios.ts";
import { expectWhole, verdicts } from "./verdict.ts";

/** Trials at a time in this process; they mostly wait for leases to end. Each takes up to six connections. */
const lanes = 12;
let running = 0;
const waiting: (() => void)[] = [];

async function inLane<T>(work: () => Promise<T>): Promise<T> {
  if (running >= lanes) await new Promise<void>((resolve) => waiting.push(resolve));
  else running += 1;
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next === undefined) running -= 1;
    else next();
  }
}

interface Measured {
  readonly statements: number;
  readonly requests: number;
}

export function driveFaults(names: readonly string[]): void {
  let lab: FaultLab;
  beforeAll(async () => {
    lab = await FaultLab.open();
  });
  afterAll(() => lab?.close());

  describe.each(names)("%s", (scenario) => {
    let measured: Measured;
    // Alone, before anything else of the scenario runs: what a slow machine repeats must not count as its statements.
    beforeAll(async () => {
      measured = await lab.measure(scenario);
    });
    test.concurrent.each(faults)(
      "%s at every statement and every request",
      { timeout: 600_000 },
      async (fault) => {
        const { points, hits, statements, requests } = await driveAll(lab, scenario, fault, measured);
        console.log(
          `${scenario}: ${fault} at ${hits} points (${statements} statements, ${requests} requests)`,
        );
        // The last statement is not reached when a run needed one renewal less.
        expect(hits).toBeGreaterThanOrEqual(points - 2);
      },
    );
  });
}

/** Every point of one scenario with one fault. @throws the first verdict that is not good */
export async function driveAll(lab: FaultLab, scenario: string, fault: Fault, measured: Measured) {
  const { statements, requests } = measured;
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
  const hits = await inAllLanes(points, (point) => trial(lab, scenario, point, fault));
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

/** All trials come to rest before the first failure is told: nothing may run into the next test. */
async function inAllLanes<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  let hasFailed = false;
  const one = async (item: T) => {
    if (hasFailed) throw new Error("not tried: another point had failed");
    try {
      return await work(item);
    } catch (error) {
      hasFailed = true;
      throw error;
    }
  };
  const found: unknown[] = [];
  const ends = await Promise.allSettled(
    items.map((item) =>
      inLane(() => one(item)).catch((error: unknown) => {
        found.push(error);
        throw error;
      }),
    ),
  );
  if (found.length > 0) throw found[0];
  return ends.flatMap((end) => (end.status === "fulfilled" ? [end.value] : []));
}
