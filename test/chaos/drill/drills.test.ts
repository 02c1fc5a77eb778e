/** Drills against a sound cluster of local processes pass, each with its proof. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type DrillScene, killExecutor, startScene } from "./drill-scene.ts";

const limitMs = 300_000;
let scene: DrillScene;

beforeAll(async () => {
  scene = await startScene();
}, limitMs);
afterAll(() => scene?.down(), limitMs);

describe("a sound cluster", () => {
  it(
    "stands the death of an executor that stays away",
    async () => {
      const { report, history } = await scene.run(killExecutor);
      expect(report.reason).toMatch(/each once$/);
      expect(report.verdict).toBe("pass");
      expect(report.unproven).toEqual([]);
      expect(history?.faults[0]?.attemptsHit).toBeGreaterThan(0);
      expect(report.measures.takeoverMs).toBeGreaterThan(0);
    },
    limitMs,
  );
});
