/** What becomes of a result when the end of its run goes wrong. */
import { expect, it } from "vitest";
import type { DrillResult } from "../../../src/chaos/drill/drill-report.ts";
import { withDoubt } from "../../../src/chaos/drill/run-drill.ts";

it.each([
  ["pass", { verdict: "unknown", reason: "left", unknown: ["left"] }],
  ["unknown", { verdict: "unknown", reason: "why; left", unknown: ["before", "left"] }],
  ["fail", { verdict: "fail", reason: "why", unknown: ["before", "left"] }],
])("probes that stay take a pass away, and nothing else: %s", (verdict, wanted) => {
  const unknown = verdict === "pass" ? [] : ["before"];
  const result = { report: { verdict, reason: "why", unknown }, history: null } as unknown as DrillResult;
  expect(withDoubt(result, "left").report).toEqual(wanted);
});
