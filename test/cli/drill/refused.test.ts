/** A cluster that is not as it must be: the plan says it, the run says it once, and nothing counts as run. */
import { describe, expect, test } from "vitest";
import { listDrillRuns } from "../../../src/store/drill/drill-run.ts";
import { aDrillScene, db, drill, populate, withStore } from "./drill-scene.ts";

aDrillScene();

const lack = /0 cpu slots without the largest executor; the drill's own work needs 5 \(nobody has any\)/;

describe("executors without room for each other's work", () => {
  test("plan ends with 4 and says what is missing and what helps; without records it does not know", async () => {
    await populate(0);
    const { code, stdout } = await withStore("plan", "kill-executor");
    expect(code).toBe(4);
    expect(stdout).toMatch(lack);
    expect(stdout).toContain("two executors of one class need 5 slots of it each");
    expect(stdout).toMatch(/A run would be refused now/);
    const json = await withStore("plan", "kill-executor", "--json");
    expect(json.code).toBe(4);
    const { conditions } = JSON.parse(json.stdout) as { conditions: { what: string; ok: boolean }[] };
    expect(conditions.filter(({ ok }) => !ok).map(({ what }) => what)).toEqual([
      "two executors live",
      "executors can take each other's work",
    ]);
    const blind = await drill("plan", "kill-executor", "--json");
    expect([blind.code, JSON.parse(blind.stdout).conditions]).toEqual([0, null]);
  });

  test("run says it once, for the first variant alone; status and history call it refused, and no run", async () => {
    await populate(0);
    const { code, stdout, stderr } = await withStore("run", "kill-executor", "--yes", "--port", "0");
    expect(code).toBe(4);
    const told = `${stdout}\n${stderr}`.match(/must be so, and is not/g);
    expect(told).toHaveLength(1);
    expect(stdout).toMatch(/refused {2}kill-executor\/restarted: small takes no drill now: must be so/);
    expect(stdout).toMatch(/nothing was broken; two executors of one class need 5 slots/);
    expect(stderr).toContain("1 variant(s) of kill-executor not run");
    expect(await listDrillRuns(db)).toMatchObject([
      { drill: "kill-executor/restarted", outcome: "refused", faultAt: null },
    ]);
    const history = await withStore("history");
    expect(history.stdout).toMatch(/executor-killed +never +never/);
    expect(history.stdout).toMatch(/kill-executor\/restarted .*refused .*must be so/);
    expect((await withStore("status")).stdout).toMatch(
      /last: kill-executor\/restarted .*: refused, nothing was done/,
    );
  }, 120_000);
});

test("where nobody may be drilled the refusal says so in a sentence", async () => {
  const { code, stdout } = await withStore("run", "pause-executor", "--yes", "--port", "0");
  expect([code, stdout]).toEqual([
    4,
    expect.stringContaining("an executor may be drilled (0 executor(s) take"),
  ]);
}, 120_000);
