/**
 * The same drills against clusters with a protection removed: each must fail,
 * under the right name. What is removed is removed here, never in the product.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { DrillReport } from "../../../src/chaos/drill/drill-report.ts";
import type { RunDrillOptions } from "../../../src/chaos/drill/run-options.ts";
import type { Witness, WitnessOptions } from "../../../src/chaos/witness.ts";
import { findClockLibrary } from "../../../src/lab/process-clock.ts";
import type { DrillDefinition, DrillVariant } from "../../../src/spec/drill-definition.ts";
import { sampleCluster } from "../../../src/store/drill/drill-sample.ts";
import { listSchedulers } from "../../../src/store/scheduler-row.ts";
import { until } from "../../support/until.ts";
import { childrenOf, isStopped, shown, signal } from "../../torture/processes.ts";
import { BelievingWitness } from "./believing-witness.ts";
import { type DrillScene, drillOf, startScene } from "./drill-scene.ts";
import { answerNull, patchFunctions, swap } from "./sabotage.ts";
import { killExecutor, pauseExecutor, skewedLeader, stopPrimary } from "./variants.ts";

const limitMs = 300_000;
const clocks = findClockLibrary() !== undefined;
let scene: DrillScene;

beforeAll(async () => {
  scene = await startScene({ clocks });
}, limitMs);
afterAll(() => scene?.down(), limitMs);
// A drill before may have taken the standby away; the next one would be refused.
beforeEach(
  () =>
    until(async () => (await listSchedulers(scene.db)).some(({ role }) => role === "standby"), {
      what: "a standby",
      deadlineMs: 60_000,
    }),
  limitMs,
);

const startWitness = BelievingWitness.start.bind(BelievingWitness);
/** Takes a protection away; gives back what puts it back. */
type Sabotage = () => Promise<() => Promise<void>>;

/** Runs a drill against the sabotaged cluster. @returns the classes that were found */
async function drill(
  variant: DrillVariant,
  sabotage: Sabotage | undefined,
  change: Partial<RunDrillOptions> = {},
): Promise<string[]> {
  const heal = await sabotage?.();
  try {
    const { report } = await scene.run(variant, change);
    expect(report.verdict, report.reason).toBe("fail");
    return found(report);
  } finally {
    await heal?.();
  }
}

function found({ judged, failures }: DrillReport): string[] {
  const counts = Object.entries(judged?.counts ?? {}).filter(([, count]) => count > 0);
  return [...counts.map(([name]) => name), ...failures.map((one) => one.class)];
}

/** Goes on though another host is not what it was. */
function patient(variant: DrillVariant): DrillDefinition {
  const definition = drillOf(variant);
  return { ...definition, abort: { ...definition.abort, otherHostUnhealthy: false } };
}

/** Attempts that last longer than it takes to declare an executor dead. */
function slow(variant: DrillVariant): DrillDefinition {
  return {
    ...patient(variant),
    load: { jobs: 2, everyMs: 2_000, shards: 2, shardMs: 14_000, obligations: 5 },
  };
}

const patch = (patches: Parameters<typeof patchFunctions>[1]) => () => patchFunctions(scene.db, patches);

const noLeaseExpiry = patch({ reap: answerNull, take_over: answerNull });
const noFence = patch({
  complete: swap(
    " AND l.owner = p_incarnation AND l.fence_token = a.token AND (v_leased OR l.continue_fenced)",
    "",
  ),
});

async function noUniqueIndex() {
  await scene.db.query("ALTER TABLE escapement.shard_live DROP CONSTRAINT shard_live_pkey");
  const heal = await patchFunctions(scene.db, {
    open_due: swap(
      "(s.shard_no = -1) = g.freezes) s",
      "(s.shard_no = -1) = g.freezes) s, generate_series(1, 2)",
    ),
  });
  return async () => {
    await heal();
    await scene.db.query("DELETE FROM escapement.shard_live; DELETE FROM escapement.execution_live");
    await scene.db.query(
      "ALTER TABLE escapement.shard_live ADD CONSTRAINT shard_live_pkey PRIMARY KEY (job_id, fire_time, shard_no)",
    );
  };
}

/** Fires are opened by the wall clock of the host whose clock is moved. */
async function ownWallClock() {
  const wallClock = (offsetSeconds: number) =>
    scene.db.query(
      `CREATE OR REPLACE FUNCTION escapement.wall_clock() RETURNS timestamptz LANGUAGE sql AS
       $$ SELECT clock_timestamp() + interval '${offsetSeconds} s' $$`,
    );
  await wallClock(0);
  // No more than it plans ahead, and less than a misfire: what is later than that is decided elsewhere.
  for (const door of scene.doors.values()) door.onInject = async () => void (await wallClock(6));
  const heal = await patchFunctions(scene.db, {
    open_due: (text) =>
      text
        .replaceAll("clock_timestamp()", "escapement.wall_clock()")
        .replace("s.attempt, g.due_at,", "s.attempt, least(g.due_at, clock_timestamp()),"),
  });
  return async () => {
    for (const door of scene.doors.values()) door.onInject = undefined;
    await heal();
  };
}

/** The standby goes in the same moment as the primary. */
async function noStandby() {
  const leader = await scene.cluster.leader();
  const standby = scene.cluster.schedulers.find(({ name }) => name !== leader?.node)!;
  const door = scene.doors.get(leader!.node)!;
  door.onInject = async () => void (await standby.kill());
  return async () => {
    door.onInject = undefined;
    await standby.start();
    await scene.cluster.ready(standby.name);
  };
}

/** Nobody is there any more who could kill the children. */
async function noSupervisor() {
  let supervisors: number[] = [];
  for (const [name, door] of scene.doors) {
    door.onInject = async () => {
      supervisors = childrenOf([scene.cluster.node(name).pid ?? -1]);
      for (const pid of supervisors) signal(pid, "SIGSTOP");
      await shown(supervisors, isStopped);
    };
  }
  return async () => {
    for (const door of scene.doors.values()) door.onInject = undefined;
    for (const pid of supervisors) signal(pid, "SIGCONT");
  };
}

/**
 * The executor goes while one of its attempts has made its effect and not ended.
 * Attempts of odd shards act early, so that seconds are left until they end.
 */
async function afterAnEffect(witness: () => Witness): Promise<() => Promise<void>> {
  for (const [name, door] of scene.doors)
    door.beforeInject = async () =>
      void (await until(
        async () => {
          const { executors } = await sampleCluster(scene.db);
          const own = new Set(executors.filter(({ node }) => node === name).map((one) => one.incarnation));
          return witness()
            .live()
            .some(
              (claim) =>
                claim.acted && claim.shardNo % 2 === 1 && claim.mode === "once" && own.has(claim.owner),
            );
        },
        { what: `an attempt of ${name} that has acted`, deadlineMs: 60_000 },
      ));
  return async () => {
    for (const door of scene.doors.values()) door.beforeInject = undefined;
  };
}

const goneOnly = (variant: DrillVariant): DrillVariant => ({
  ...variant,
  proof: [{ see: "process-gone", from: "target" }],
});

describe("a cluster without a protection", () => {
  it("no lease expiry: shards of a dead executor stay with it", async () => {
    const classes = await drill(goneOnly(killExecutor), noLeaseExpiry);
    expect(classes).toEqual(expect.arrayContaining(["interrupted", "takeover-late"]));
  }, 300_000);

  it("no idempotency key: what a dead executor did is done again", async () => {
    let witness: Witness | undefined;
    const change = {
      startWitness: async (options: WitnessOptions) => (witness = await BelievingWitness.start(options)),
    };
    expect(await drill(killExecutor, () => afterAnEffect(() => witness!), change)).toEqual(["duplicate"]);
  }, 300_000);

  it("no unique index: what is planned twice runs twice", async () => {
    expect(await drill(killExecutor, noUniqueIndex, { startWitness })).toContain("duplicate");
  }, 300_000);

  it("no fence anywhere: a former holder writes over its successor, and ends its shard", async () => {
    const change = { definition: slow(pauseExecutor), startWitness };
    expect(await drill(pauseExecutor, noFence, change)).toEqual(expect.arrayContaining(["stale", "orphan"]));
  }, 300_000);

  it("no standby: nobody takes over in time", async () => {
    const change = { definition: patient(stopPrimary) };
    expect(await drill(stopPrimary, noStandby, change)).toContain("takeover-late");
  }, 300_000);

  it.skipIf(!clocks)(
    "a scheduler that goes by its own wall clock fires early",
    async () => {
      expect(await drill(skewedLeader, ownWallClock)).toContain("early");
    },
    300_000,
  );

  it("an executor that goes on after losing its lease runs beside its successor", async () => {
    expect(await drill(pauseExecutor, noSupervisor, { definition: slow(pauseExecutor) })).toContain(
      "overlap",
    );
  }, 300_000);
});
