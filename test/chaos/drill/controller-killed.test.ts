/**
 * The controller is killed at every stage: the host restores itself, nobody else
 * begins meanwhile, and whoever comes next clears everything away.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sleep } from "../../../src/base/monotonic.ts";
import { endAbandonedRun } from "../../../src/chaos/drill/abandoned-run.ts";
import { runDrill } from "../../../src/chaos/drill/run-drill.ts";
import { currentDrillRun } from "../../../src/store/drill/drill-run.ts";
import { until } from "../../support/until.ts";
import type { ControllerTask } from "./controller.ts";
import { serveDoors } from "./door-server.ts";
import { type DrillScene, startScene } from "./drill-scene.ts";
import { killExecutor } from "./variants.ts";

const limitMs = 180_000;
const variant = {
  ...killExecutor,
  hold: { ms: 6_000 },
  proof: [{ see: "process-gone", from: "target" }],
} as const;
let scene: DrillScene;
let doors: Awaited<ReturnType<typeof serveDoors>>;
let folder: string;

beforeAll(async () => {
  scene = await startScene();
  doors = await serveDoors(scene.doors);
  folder = mkdtempSync(join(tmpdir(), "escapement-controller-"));
  await build({
    entryPoints: [join(import.meta.dirname, "controller.ts")],
    outfile: join(folder, "controller.mjs"),
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    external: ["pg-native"],
    banner: {
      js: "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);",
    },
    logLevel: "warning",
  });
}, limitMs);
afterAll(async () => {
  doors?.close();
  await scene?.down();
  rmSync(folder, { recursive: true, force: true });
}, limitMs);

class Controller {
  readonly process: ChildProcess;
  said = "";

  constructor(task: ControllerTask) {
    this.process = spawn(process.execPath, [join(folder, "controller.mjs")], {
      env: { ...process.env, CONTROLLER_TASK: JSON.stringify(task) },
      stdio: ["ignore", "pipe", "inherit"],
    });
    this.process.stdout!.on("data", (part) => (this.said += part));
  }

  async heard(words: string): Promise<void> {
    await until(() => this.said.includes(words), { what: `${words} in: ${this.said}`, deadlineMs: 120_000 });
  }

  async end(signal: NodeJS.Signals): Promise<number | null> {
    const ended = new Promise<number | null>((resolve) => this.process.once("exit", (code) => resolve(code)));
    this.process.kill(signal);
    return ended;
  }
}

async function start(): Promise<Controller> {
  const { db: _, connectHost: __, signal: ___, say: ____, ...options } = await scene.options(variant);
  return new Controller({ options, storeUrl: scene.cluster.storeUrl, doors: doors.port });
}

/** Every host is itself again without anybody's help. */
async function restoredByThemselves(): Promise<void> {
  for (const [name, door] of scene.doors) {
    await door.idle();
    expect(await door.audit(), name).toEqual({ residue: [], unseen: [] });
  }
}

async function probesLeft(): Promise<number> {
  const { rows } = await scene.db.query<{ count: number }>(
    "SELECT count(*)::integer AS count FROM escapement.job WHERE namespace = 'drill' AND state <> 'deleted'",
  );
  return rows[0]!.count;
}

/** The lease of the dead one ends; the test does not wait for it. */
const endLease = () =>
  scene.db.query(
    "UPDATE escapement.drill_run SET lease_until = clock_timestamp() - interval '1 s' WHERE ended_at IS NULL",
  );

describe("a controller that is killed", () => {
  it.each(["preflight", "armed", "fault", "settling", "judging"])(
    "while it is %s",
    async (state) => {
      const controller = await start();
      await controller.heard(`state ${state}`);
      await controller.end("SIGKILL");
      const options = await scene.options(variant);
      // As long as its lease lasts it may be alive.
      await expect(runDrill(options)).rejects.toMatchObject({ code: "E_DRILL_BUSY" });
      await restoredByThemselves();
      await endLease();
      const ended = await endAbandonedRun(options);
      expect(ended).toMatchObject({
        verdict: "unknown",
        reason: expect.stringContaining("controller went away"),
      });
      expect(await currentDrillRun(scene.db)).toBeNull();
      expect(await probesLeft()).toBe(0);
    },
    limitMs,
  );

  it(
    "leaves something behind: whoever comes next says fail",
    async () => {
      const controller = await start();
      await controller.heard("state settling");
      await controller.end("SIGKILL");
      const run = await currentDrillRun(scene.db);
      const door = scene.doors.get(run!.targets[0]!.host)!;
      door.leaveBehind = { what: "unit drop-in", detail: "restart.conf" };
      try {
        await endLease();
        expect(await endAbandonedRun(await scene.options(variant))).toMatchObject({ verdict: "fail" });
      } finally {
        door.leaveBehind = undefined;
      }
    },
    limitMs,
  );

  it(
    "Ctrl-C once: restored at once, nothing concluded, nothing left",
    async () => {
      const controller = await start();
      await controller.heard("proof");
      controller.process.kill("SIGINT");
      await controller.heard("verdict unknown");
      expect(controller.said).toContain("stopped by SIGINT");
      await restoredByThemselves();
      expect(await currentDrillRun(scene.db)).toBeNull();
      expect(await probesLeft()).toBe(0);
    },
    limitMs,
  );

  it(
    "Ctrl-C twice: it says what the host does and goes; the host does it",
    async () => {
      const controller = await start();
      await controller.heard("proof");
      controller.process.kill("SIGINT");
      // Two at once would be one for the kernel.
      await sleep(100);
      controller.process.kill("SIGINT");
      await controller.heard("error E_INTERRUPTED");
      expect(controller.said).toMatch(/say leaving; .* restores itself|say leaving; no fault is on/);
      await restoredByThemselves();
      await endLease();
      await endAbandonedRun(await scene.options(variant));
      expect(await probesLeft()).toBe(0);
    },
    limitMs,
  );
});
