/** The history of a run that ended early, where the store may be what is away. */
import { expect, it } from "vitest";
import type { DrillCourse } from "../../../src/chaos/drill/drill-course.ts";
import type { DrillLoad } from "../../../src/chaos/drill/drill-load.ts";
import { earlyHistory } from "../../../src/chaos/drill/early-history.ts";

function courseWith(query: () => Promise<unknown>) {
  const said: string[] = [];
  const course = {
    options: { db: { query }, definition: {}, variant: { fault: { kind: "kill" } } },
    notes: { asked: [], fault: null },
    book: undefined,
    startedAt: new Date(0),
    log: { say: (line: string) => said.push(line) },
  } as unknown as DrillCourse;
  return { course, said };
}

it.each([
  ["never answers", () => new Promise<never>(() => {}), "the record store did not tell it within 0.05 s"],
  ["says no", () => Promise.reject(new Error("the store is away")), "the store is away"],
])("a store that %s: no history, and why is said", async (_, query, why) => {
  const { course, said } = courseWith(query);
  expect(await earlyHistory(course, {} as DrillLoad, 50)).toBeNull();
  expect(said).toEqual([`no history of it: ${why}`]);
});
