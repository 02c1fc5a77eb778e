import { expect, test } from "vitest";
import type { DrillLook } from "../../src/store/ui/records-look.ts";
import { latestOfClasses } from "../../src/tui/data/drill-history.ts";

const run = (drill: string, verdict: DrillLook["verdict"]) =>
  ({ drill, class: drill, verdict }) as unknown as DrillLook;

test.each([
  ["the latest counts", ["pass", "fail"], "pass"],
  ["one that is on counts", [null, "fail"], null],
  ["what was refused or left out hides no failure", ["refused", "left-out", "fail", "pass"], "fail"],
] as const)("%s", (_, verdicts, expected) => {
  const latest = latestOfClasses(verdicts.map((verdict) => run("kill", verdict)));
  expect(latest.map(({ verdict }) => verdict)).toEqual([expected]);
});

test("a class that was only ever refused has no run", () => {
  expect(latestOfClasses([run("kill", "refused"), run("cut", "pass")])).toMatchObject([{ class: "cut" }]);
});
