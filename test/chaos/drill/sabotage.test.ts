/**
 * The same drills against clusters with a protection removed: each must fail,
 * under the right name. What is removed is removed here, never in the product.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { DrillReport } from "../../../src/chaos/drill/drill-report.ts";
import { findClockLibrary } from "../../../src/lab/process-clock.ts";
import { childrenOf, isStopped, signal } from "../../torture/processes.ts";
import { BelievingWitness } from "./believing-witness.ts";
import { type DrillScene, drillOf, startScene } from "./drill-scene.ts";
import { answerNull, patchFunctions, swap } from "./sabotage.ts";
import { cutNetwork, killExecutor, pauseExecutor, skewedLeader, stopPrimary } from "./variants.ts";

const limitMs = 300_000;
let scene: DrillScene;

beforeAll(async () => {
  scene = await startScene({ clocks: findClockLibrary() !== undefined });
}, limitMs);
afterAll(() => scene?.down(), limitMs);

/** What was found, without what was not. */
function found({ judged, failures }: DrillReport): string[] {
  const counts = Object.entries(judged?.counts ?? {}).filter(([, count]) => count > 0);
  return [...counts.map(([name]) => name), ...failures.map((one) => one.class)];
}

describe("a cluster without a protection", () => {
  it(
    "no lease expiry: shards of a dead executor stay with it",
    async () => {
      const heal = await patchFunctions(scene.db, { reap: answerNull, take_over: answerNull });
      try {
        const { report } = await scene.run({
          ...killExecutor,
          proof: [{ see: "process-gone", from: "target" }],
        });
        expect(report.verdict, report.reason).toBe("fail");
        expect(found(report)).toEqual(expect.arrayContaining(["interrupted", "takeover-late"]));
      } finally {
        await heal();
      }
    },
    limitMs,
  );

  it(
    "no idempotency key: what a dead executor did is done again",
    async () => {
      const startWitness = BelievingWitness.start.bind(BelievingWitness);
      const { report } = await scene.run(killExecutor, { startWitness });
      expect(report.verdict, report.reason).toBe("fail");
      expect(found(report)).toEqual(["duplicate"]);
    },
    limitMs,
  );

  it(
    "no fence at the receiver: a write of a paused executor comes after that of its successor",
    async () => {
      const startWitness = BelievingWitness.start.bind(BelievingWitness);
      const { report } = await scene.run(
        { ...pauseExecutor, pass: { ...pauseExecutor.pass, refusedStaleWrites: 0 } },
        { startWitness },
      );
      expect(report.verdict, report.reason).toBe("fail");
      expect(found(report)).toContain("stale");
    },
    limitMs,
  );

  it(
    "no fence check in the records: an outcome of a former holder ends a shard that another one runs",
    async () => {
      const heal = await patchFunctions(scene.db, {
        complete: swap(
          " AND l.owner = p_incarnation AND l.fence_token = a.token AND (v_leased OR l.continue_fenced)",
          "",
        ),
      });
      try {
        const { report } = await scene.run(pauseExecutor);
        expect(report.verdict, report.reason).toBe("fail");
        expect(found(report).length).toBeGreaterThan(0);
      } finally {
        await heal();
      }
    },
    limitMs,
  );

  it(
    "no unique index: what is put back is put back twice",
    async () => {
      await scene.db.query("ALTER TABLE escapement.shard_live DROP CONSTRAINT shard_live_pkey");
      const heal = await patchFunctions(scene.db, {
        reap: swap(
          "RETURN escapement.release_shards(p_incarnation);",
          `INSERT INTO escapement.shard_live (job_id, fire_time, shard_no, class, catch_up, continue_fenced, max_tries, attempt, run_after)
         SELECT job_id, fire_time, shard_no, class, catch_up, continue_fenced, max_tries, attempt, clock_timestamp()
         FROM escapement.shard_live WHERE owner = p_incarnation;
         RETURN escapement.release_shards(p_incarnation);`,
        ),
      });
      try {
        const { report } = await scene.run(killExecutor);
        expect(report.verdict, report.reason).toBe("fail");
        expect(found(report)).toContain("duplicate");
      } finally {
        await heal();
        await scene.db.query("DELETE FROM escapement.shard_live");
        await scene.db.query("DELETE FROM escapement.execution_live");
        await scene.db.query(
          "ALTER TABLE escapement.shard_live ADD CONSTRAINT shard_live_pkey PRIMARY KEY (job_id, fire_time, shard_no)",
        );
      }
    },
    limitMs,
  );

  it(
    "the standby is stopped when the primary goes: nobody takes over in time",
    async () => {
      const standby = async () => {
        const leader = await scene.cluster.leader();
        return scene.cluster.schedulers.find(({ name }) => name !== leader?.node)!;
      };
      const other = await standby();
      const door = scene.doors.get((await scene.cluster.leader())!.node)!;
      // Refused from the beginning where it can be seen.
      door.onInject = () => other.kill().then(() => {});
      try {
        const { report } = await scene.run(
          { ...stopPrimary, proof: [{ see: "process-gone", from: "target" }] },
          { definition: patient(stopPrimary) },
        );
        expect(report.verdict, report.reason).toBe("fail");
        expect(found(report)).toContain("takeover-late");
      } finally {
        door.onInject = undefined;
        await other.start();
        await scene.cluster.ready(other.name);
      }
    },
    limitMs,
  );

  it(
    "a scheduler that goes by its own wall clock fires early",
    async () => {
      await scene.db.query(`CREATE OR REPLACE FUNCTION escapement.sabotaged_now() RETURNS timestamptz LANGUAGE sql AS $$
      SELECT clock_timestamp() + make_interval(secs => coalesce((SELECT offset_ms FROM escapement.scheduler s
        JOIN escapement.leader l ON l.holder = s.incarnation), 0) / 1000) $$`);
      const heal = await patchFunctions(scene.db, {
        open_due: (text) =>
          swap(
            "clock_timestamp()",
            "escapement.sabotaged_now()",
          )(text).replace("g.due_at, o.start_by\n", "least(g.due_at, clock_timestamp()), o.start_by\n"),
      });
      try {
        const { report } = await scene.run(skewedLeader);
        expect(report.verdict, report.reason).toBe("fail");
        expect(found(report)).toContain("early");
      } finally {
        await heal();
      }
    },
    limitMs,
  );

  it(
    "an executor that goes on after losing its lease runs beside its successor",
    async () => {
      let supervisors: number[] = [];
      const freezeSupervisor = async (name: string) => {
        supervisors = childrenOf([scene.cluster.node(name).pid ?? -1]);
        for (const pid of supervisors) signal(pid, "SIGSTOP");
        expect(supervisors.every(isStopped)).toBe(true);
      };
      for (const [name, door] of scene.doors) door.onInject = () => freezeSupervisor(name);
      const definition = patient(cutNetwork);
      try {
        const { report } = await scene.run(cutNetwork, {
          definition: {
            ...definition,
            load: { jobs: 2, everyMs: 2_000, shards: 2, shardMs: 14_000, obligations: 5 },
          },
        });
        expect(report.verdict, report.reason).toBe("fail");
        expect(found(report)).toContain("overlap");
      } finally {
        for (const door of scene.doors.values()) door.onInject = undefined;
        for (const pid of supervisors) signal(pid, "SIGCONT");
      }
    },
    limitMs,
  );
});

/** Goes on though another host is not what it was. */
function patient(variant: Parameters<typeof drillOf>[0]) {
  const drill = drillOf(variant);
  return { ...drill, abort: { ...drill.abort, otherHostUnhealthy: false } };
}
