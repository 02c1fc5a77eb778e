/**
 * The controller is killed at every stage: the host restores itself, nobody else
 * begins meanwhile, and whoever comes next clears everything away. With one
 * drill on hosts that are really broken, and with every drill that comes with
 * the program on hosts that say they are: what the host's own side does when its
 * controller goes is in test/hosts/drill/host-side-interrupted.
 *
 * By default each variant is killed at one of the stages (ESCAPEMENT_DRILL_SEED
 * says at which); ESCAPEMENT_ALL_DRILLS=1: at each of them, about 12 minutes.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sleep } from "../../../src/base/monotonic.ts";
import { endAbandonedRun } from "../../../src/chaos/drill/abandoned-run.ts";
import { runDrill } from "../../../src/chaos/drill/run-drill.ts";
import { currentDrillRun } from "../../../src/store/drill/drill-run.ts";
import { SeededRandom, seedFrom } from "../seeded-random.ts";
import { serveDoors } from "./door-server.ts";
import { type DrillScene, startScene } from "./drill-scene.ts";
import { buildController, Controller } from "./killed-controller.ts";
import { PretendDrillHost } from "./pretend-drill-host.ts";
import { briefly, shippedVariants } from "./shipped-variants.ts";
import { killExecutor } from "./variants.ts";

const limitMs = 180_000;
const stages = ["preflight", "armed", "fault", "restoring", "settling", "judging"] as const;
const seed = seedFrom("ESCAPEMENT_DRILL_SEED");
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
  await buildController(folder);
}, limitMs);
afterAll(async () => {
  doors?.close();
  await scene?.down();
  rmSync(folder, { recursive: true, force: true });
}, limitMs);

/** The last state has next to nothing left to do: a controller that nobody holds is through it before it is killed. */
const standsAt = "judging";

async function start(): Promise<Controller> {
  const { db: _, connectHost: __, signal: ___, say: ____, ...options } = await scene.options(variant);
  return new Controller(folder, { options, storeUrl: scene.cluster.storeUrl, doors: doors.port, standsAt });
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
  it.each(stages)(
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
      await controller.heard("error E_DRILL_LEFT");
      expect(controller.said).toMatch(/say leaving; .* restores itself|say leaving; no fault is on/);
      await restoredByThemselves();
      await endLease();
      await endAbandonedRun(await scene.options(variant));
      expect(await probesLeft()).toBe(0);
    },
    limitMs,
  );
});

describe("a controller of any drill that is killed", async () => {
  const every = await shippedVariants();
  const first = new SeededRandom(seed).between(0, stages.length - 1);
  const cases = every.flatMap((one, nth) =>
    (process.env.ESCAPEMENT_ALL_DRILLS === "1" ? stages : [stages[(first + nth) % stages.length]!]).map(
      (stage) => [one.title, stage, one] as const,
    ),
  );
  const names = [
    ...["scheduler-1", "scheduler-2", "executor-1", "executor-2", "executor-3"],
    // The record store of this cluster is no host; to these drills it is one.
    "store-1",
  ];
  const hosts = new Map(names.map((name) => [name, new PretendDrillHost(name)]));
  let door: Awaited<ReturnType<typeof serveDoors>>;
  beforeAll(async () => {
    door = await serveDoors(hosts);
  });
  afterAll(() => door?.close());

  it.each(cases)(
    `%s, while it is %s, ESCAPEMENT_DRILL_SEED=${seed}`,
    async (_title, stage, shipped) => {
      const { definition, variant } = briefly(shipped);
      const { hosts: members, ...rest } = await scene.options(variant, { definition, settleMs: 500 });
      const store = {
        name: "store-1",
        addresses: ["127.0.0.1"],
        parts: ["record-store" as const],
        units: { "record-store": "postgresql@15-main.service" },
      };
      const all = {
        ...rest,
        hosts: [...members, store],
        connectHost: async ({ name }: { readonly name: string }) => hosts.get(name)!,
      };
      const { db: _, connectHost: __, signal: ___, say: ____, ...options } = all;
      const orders = () => [...hosts.values()].reduce((sum, host) => sum + host.orders.length, 0);
      const before = orders();
      const controller = new Controller(folder, {
        options,
        storeUrl: scene.cluster.storeUrl,
        doors: door.port,
        standsAt,
      });
      await controller.heard(`state ${stage}`);
      await controller.end("SIGKILL");
      await expect(runDrill(all)).rejects.toMatchObject({ code: "E_DRILL_BUSY" });
      for (const [name, host] of hosts) {
        await host.idle();
        expect(await host.audit(), name).toEqual({ residue: [], unseen: [] });
      }
      // From the fault on a host was at it, or this would have tested nothing.
      if (stage !== "preflight" && stage !== "armed") expect(orders() - before).toBe(1);
      await endLease();
      expect(await endAbandonedRun(all)).toMatchObject({ verdict: "unknown" });
      expect(await currentDrillRun(scene.db)).toBeNull();
      expect(await probesLeft()).toBe(0);
    },
    limitMs,
  );
});
