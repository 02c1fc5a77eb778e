/** How many virtual machines start side by side, and what becomes of the others. */
import { expect, test } from "vitest";
import { machinesAtOnce, StartingLane } from "../../../src/lab/vm/starting-lane.ts";

type Virtual = Parameters<typeof machinesAtOnce>[0]["virtual"];
const by = (accelerator: "kvm" | "tcg") => ({ virtual: { accelerator } as Virtual });

test.each([
  [1, 1],
  [2, 1],
  [3, 1],
  [8, 4],
])("emulated, %i processors start %i at once", (processors, expected) => {
  expect(machinesAtOnce(by("tcg"), processors)).toBe(expected);
});

test("a processor that runs machines itself starts all of them", () => {
  expect(machinesAtOnce(by("kvm"), 2)).toBe(Number.POSITIVE_INFINITY);
  expect(machinesAtOnce({ virtual: undefined }, 2)).toBe(Number.POSITIVE_INFINITY);
});

test("never more than so many run, each begins in its turn, and all have their answers", async () => {
  const lane = new StartingLane(2);
  const began: number[] = [];
  let running = 0;
  let most = 0;
  const answers = await Promise.all(
    [0, 1, 2, 3, 4, 5, 6].map((one) =>
      lane.run(async () => {
        began.push(one);
        running += 1;
        most = Math.max(most, running);
        for (let turn = 0; turn <= one % 3; turn++) await new Promise((resolve) => setImmediate(resolve));
        running -= 1;
        return one * 10;
      }),
    ),
  );
  expect(answers).toEqual([0, 10, 20, 30, 40, 50, 60]);
  expect(began).toEqual([0, 1, 2, 3, 4, 5, 6]);
  expect(most).toBe(2);
});

test("after a failure nothing begins any more, and everybody behind it hears why", async () => {
  const lane = new StartingLane(1);
  const began: string[] = [];
  const work = (name: string, error?: Error) =>
    lane.run(async () => {
      began.push(name);
      await new Promise((resolve) => setImmediate(resolve));
      if (error) throw error;
    });
  const ends = await Promise.allSettled([work("first"), work("second", new Error("no boot")), work("third")]);
  expect(ends.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected"]);
  expect(ends[2]).toMatchObject({ reason: { message: "no boot" } });
  expect(began).toEqual(["first", "second"]);
});
