/** What keeps a drill from beginning, what ends it early, and what it then may not claim. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runDrill } from "../../../src/chaos/drill/run-drill.ts";
import { judgeDrill } from "../../../src/chaos/judge-drill.ts";
import { haltDrills, liftDrillHalt } from "../../../src/store/drill/drill-halt.ts";
import { currentDrillRun, listDrillRuns, requestDrillAbort } from "../../../src/store/drill/drill-run.ts";
import { until } from "../../support/until.ts";
import { type DrillScene, drillOf, startScene } from "./drill-scene.ts";
import { cutNetwork, killExecutor, stopPrimary } from "./variants.ts";

const limitMs = 180_000;
const deed = { person: "test", reason: "to see it" };
const variant = {
  ...killExecutor,
  hold: { ms: 8_000 },
  proof: [{ see: "process-gone", from: "target" }],
} as const;
let scene: DrillScene;

beforeAll(async () => {
  scene = await startScene();
}, limitMs);
afterAll(() => scene?.down(), limitMs);

const latest = async () => (await listDrillRuns(scene.db, { limit: 1 }))[0];
const said = (words: string) =>
  until(() => scene.said.some((line) => line.includes(words)), { what: words, deadlineMs: 60_000 });

async function struck(): Promise<void> {
  scene.said.length = 0;
  await said("proof");
}

describe("a drill that does not begin", () => {
  it(
    "while drills are halted",
    async () => {
      await haltDrills(scene.db, deed);
      try {
        await expect(scene.run(variant)).rejects.toMatchObject({ code: "E_DRILL_HALTED" });
      } finally {
        await liftDrillHalt(scene.db, deed);
      }
    },
    limitMs,
  );

  it(
    "when something is not as it should be: every reason is told, and nothing was touched",
    async () => {
      const options = await scene.options(variant);
      const definition = {
        ...drillOf(variant),
        steadyState: { ...drillOf(variant).steadyState, backlogBelow: 0 },
      };
      const hosts = options.hosts.map((host) => ({
        ...host,
        units: host.name === "executor-1" ? { executor: "escapement-executor.service" } : host.units,
      }));
      const refused = runDrill({ ...options, definition, hosts, named: ["scheduler-1"] });
      await expect(refused).rejects.toMatchObject({
        code: "E_DRILL_REFUSED",
        message: expect.stringMatching(/shards wait.*|cannot be the target.*/s),
      });
      expect(await latest()).toMatchObject({ verdict: "unknown", outcome: "refused", targets: [] });
      expect(await currentDrillRun(scene.db)).toBeNull();
    },
    limitMs,
  );
});

describe("a cut that no other host could see", () => {
  it(
    "does not begin: whoever is to find the target silent must be answered before",
    async () => {
      const doors = [...scene.doors.values()];
      const answers = doors.map((door) => door.answers);
      for (const door of doors) door.answers = () => "silent";
      try {
        await expect(scene.run(cutNetwork)).rejects.toMatchObject({
          code: "E_DRILL_REFUSED",
          message: expect.stringMatching(/another host reaches executor-1 \(no answer for .*scheduler/),
        });
        expect(await latest()).toMatchObject({ outcome: "refused", targets: [] });
      } finally {
        for (const [nth, door] of doors.entries()) door.answers = answers[nth]!;
      }
    },
    limitMs,
  );
});

describe("a drill that is ended early", () => {
  it(
    "by the stop switch: restored within seconds, unknown",
    async () => {
      const running = scene.run(variant);
      await struck();
      await haltDrills(scene.db, deed);
      try {
        const { report, history } = await running;
        expect(report).toMatchObject({ verdict: "unknown", failures: [] });
        expect(report.reason).toContain("halted by test");
        expect(report.restoredAt).not.toBeNull();
        // What its attempts were at is cancelled: at once, or by their executors.
        const { rows } = await scene.db.query(
          "SELECT 1 FROM escapement.shard_live WHERE owner IS NULL OR NOT cancel_requested",
        );
        expect(rows).toEqual([]);
        // What was seen until then can be judged again, and never becomes a pass.
        expect(history).toMatchObject({ settled: false, faults: [{ until: report.restoredAt }] });
        expect(history?.effects.length).toBeGreaterThan(0);
        expect(judgeDrill(history!, history)).toMatchObject({ outcome: "unknown", findings: [] });
      } finally {
        await liftDrillHalt(scene.db, deed);
      }
    },
    limitMs,
  );

  it(
    "by whoever asks for it, while nobody else may begin; it was of another shape than the one halted just before",
    async () => {
      const { load, ...rest } = drillOf(variant);
      const running = scene.run(variant, { definition: { ...rest, load: { ...load, shards: 3 } } });
      await struck();
      await expect(scene.run(variant)).rejects.toMatchObject({ code: "E_DRILL_BUSY" });
      await requestDrillAbort(scene.db, "wrong host");
      const { report } = await running;
      expect(report).toMatchObject({ verdict: "unknown", failures: [] });
      expect(report.reason).toContain("wrong host");
    },
    limitMs,
  );

  it(
    "by its own rule, when another host is not what it was",
    async () => {
      const options = await scene.options(variant);
      const running = runDrill(options);
      await struck();
      const target = (await currentDrillRun(scene.db))!.targets[0]!.host;
      const other = scene.cluster.executors.find(({ name }) => name !== target)!;
      await other.kill();
      const { report } = await running;
      expect(report.verdict).toBe("unknown");
      expect(report.reason).toContain(`on ${other.name} is failed`);
      await other.start();
      await scene.cluster.ready(other.name);
    },
    limitMs,
  );

  it(
    "with something left on the host: fail, whatever the data says",
    async () => {
      const running = scene.run(variant);
      await struck();
      const target = (await currentDrillRun(scene.db))!.targets[0]!.host;
      const door = scene.doors.get(target)!;
      door.leaveBehind = { what: "unit drop-in", detail: "restart.conf" };
      try {
        const { report } = await running;
        expect(report.verdict).toBe("fail");
        expect(report.failures).toEqual([
          { class: "residue", detail: `${target}: unit drop-in: restart.conf` },
        ]);
      } finally {
        door.leaveBehind = undefined;
      }
    },
    limitMs,
  );
});

describe("a drill whose fault was not seen from a second place", () => {
  it(
    "the virtual address stays where it was: unknown, and nothing failed",
    async () => {
      scene.address.stuck = true;
      try {
        const { report } = await scene.run(stopPrimary);
        expect(report).toMatchObject({
          verdict: "unknown",
          failures: [],
          unproven: ["address-moved by another-host"],
        });
        expect(report.evidence).toContainEqual(expect.objectContaining({ see: "leader-moved" }));
      } finally {
        scene.address.stuck = false;
      }
    },
    limitMs,
  );
});
