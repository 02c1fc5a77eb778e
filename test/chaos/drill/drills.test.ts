/** Drills against a sound cluster of local processes pass, each with its proof. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { judgeDrill } from "../../../src/chaos/judge-drill.ts";
import { findClockLibrary } from "../../../src/lab/process-clock.ts";
import type { DrillVariant } from "../../../src/spec/drill-definition.ts";
import { type DrillScene, startScene } from "./drill-scene.ts";
import * as variants from "./variants.ts";

const limitMs = 300_000;
let scene: DrillScene;

beforeAll(async () => {
  scene = await startScene({ clocks: findClockLibrary() !== undefined });
}, limitMs);
afterAll(() => scene?.down(), limitMs);

/** One of every class; with DRILLS=all every variant there is. */
const short: readonly DrillVariant[] = [
  variants.killExecutor,
  variants.cutNetwork,
  variants.skewedExecutor,
  variants.stopPrimary,
  variants.pauseExecutor,
];
const wanted = process.env.DRILLS ? Object.values(variants) : short;
const named = process.env.DRILLS?.split(",");

describe("a sound cluster", () => {
  it.each(
    wanted.filter(({ name }) => !named || named[0] === "all" || named.some((part) => name.includes(part))),
  )(
    "stands $name",
    async (variant) => {
      const { report, history } = await scene.run(variant);
      expect(report).toMatchObject({ verdict: "pass", unknown: [], failures: [], unproven: [] });
      expect(judgeDrill(history!, history)).toMatchObject({ outcome: "pass", unknown: [] });
      expect(history?.faults[0]?.proven).toBe(true);
      if (variant.target.role === "executor") expect(history?.faults[0]?.attemptsHit).toBeGreaterThan(0);
      // Nothing of the drill is left in the cluster.
      const { rows } = await scene.db.query(
        "SELECT 1 FROM escapement.job WHERE namespace = 'drill' AND state <> 'deleted'",
      );
      expect(rows).toEqual([]);
    },
    limitMs,
  );
});
