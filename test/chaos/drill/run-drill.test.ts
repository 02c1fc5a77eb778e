/** What becomes of a result when the end of its run goes wrong, and of a run that is left. */
import { expect, it } from "vitest";
import type { DrillResult } from "../../../src/chaos/drill/drill-report.ts";
import { runDrill, withDoubt } from "../../../src/chaos/drill/run-drill.ts";
import type { RunDrillOptions } from "../../../src/chaos/drill/run-options.ts";

it.each([
  ["pass", { verdict: "unknown", reason: "left", unknown: ["left"] }],
  ["unknown", { verdict: "unknown", reason: "why; left", unknown: ["before", "left"] }],
  ["fail", { verdict: "fail", reason: "why", unknown: ["before", "left"] }],
])("probes that stay take a pass away, and nothing else: %s", (verdict, wanted) => {
  const unknown = verdict === "pass" ? [] : ["before"];
  const result = { report: { verdict, reason: "why", unknown }, history: null } as unknown as DrillResult;
  expect(withDoubt(result, "left").report).toEqual(wanted);
});

/** A run whose store answers with that. */
function beginning(query: () => Promise<never>, hurry: AbortSignal) {
  const said: string[] = [];
  const options = {
    ...{ db: { query }, definition: {}, variant: {}, hosts: [], person: "test", controller: "test", hurry },
    say: (line: string) => said.push(line),
  } as unknown as RunDrillOptions;
  return { said, work: runDrill(options) };
}

it("is left at once, whatever it waits for, and says what ends what stays", async () => {
  const hurry = new AbortController();
  const { said, work } = beginning(() => new Promise(() => {}), hurry.signal);
  hurry.abort("SIGINT");
  await expect(work).rejects.toMatchObject({
    code: "E_DRILL_LEFT",
    exitCode: 130,
    message: "left by SIGINT before the drill had ended",
    hint: expect.stringContaining("escapement drill abort --reason TEXT"),
  });
  expect(said).toEqual(["leaving; no fault is on"]);
});

it("has nothing to say any more once it is over: another variant may be on when somebody leaves", async () => {
  const hurry = new AbortController();
  const { said, work } = beginning(() => Promise.reject(new Error("away")), hurry.signal);
  await expect(work).rejects.toThrow("away");
  hurry.abort("SIGINT");
  expect(said).toEqual([]);
});
