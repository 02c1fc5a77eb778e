/** Real schedulers, an executor and a real database, and what breaks under them. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { findClockLibrary } from "../../src/lab/process-clock.ts";
import { type ProcessCluster, startProcessCluster } from "../../src/lab/process-cluster.ts";
import { jobSchedule } from "../../src/schedule/job-schedule.ts";
import { requireJob } from "../../src/store/job.ts";
import { applyJob } from "../../src/store/job-change.ts";
import { digestOf, testJob } from "../support/job.ts";
import { startEscapement } from "../support/processes.ts";
import { unavailable } from "../support/tier.ts";
import { until } from "../support/until.ts";

const clocksMissing = unavailable("the process-level clock", findClockLibrary() !== undefined);
/** The machine may be busy with much else. */
const patient = { deadlineMs: 90_000 };
const limit = 240_000;
const fiveMinutes = 300_000;

let cluster: ProcessCluster;
let born: number;
beforeAll(async () => {
  cluster = await startProcessCluster({
    schedulers: 2,
    executors: 1,
    clocks: !clocksMissing,
    scheduler: { lease: "3s", renewEvery: "500ms", stopEarly: "500ms", lookAhead: "10s" },
    postgresSettings: { fsync: "off" },
    prepare: async (store) => {
      const definition = testJob("tick", { schedule: { kind: "cron", cron: "* * * * * *" } });
      await applyJob(store, definition, digestOf(definition), { person: "test", reason: "test" });
      born = (await requireJob(store, "tick")).plannedUntil.getTime();
    },
  });
}, limit);
afterAll(async () => {
  expect(await cluster.down()).toEqual({ strays: 0 });
});

async function count(where: string): Promise<number> {
  const { rows } = await cluster.store.query<{ n: number }>(
    `SELECT count(*)::int AS n FROM escapement.execution WHERE ${where}`,
  );
  return rows[0]!.n;
}

function leaderAfter(epoch: number, notNode?: string) {
  return until(
    async () => {
      const leader = await cluster.leader();
      return leader && leader.epoch > epoch && leader.node !== notNode && leader;
    },
    { ...patient, what: `a leader after epoch ${epoch}` },
  );
}

/** Waits until executions are opened that were due after this call. */
async function fires(): Promise<void> {
  const { rows } = await cluster.store.query<{ now: Date }>("SELECT clock_timestamp() AS now");
  await until(
    async () => (await count(`opened_at IS NOT NULL AND fire_time > '${rows[0]!.now.toISOString()}'`)) >= 2,
    {
      ...patient,
      what: "fires of the next seconds",
    },
  );
}

async function metric(node: string, name: string): Promise<number> {
  const text = await (await fetch(`${cluster.node(node).httpUrl}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1]);
}

/** Every fire from the birth of the job to the cursor has exactly one execution. */
async function expectEachOnce(): Promise<void> {
  const job = await requireJob(cluster.store, "tick");
  const { rows } = await cluster.store.query<{ fires: Date[] }>(
    "SELECT array_agg(fire_time ORDER BY fire_time) AS fires FROM escapement.execution WHERE fire_time <= $1",
    [job.plannedUntil],
  );
  expect(rows[0]!.fires.map((fire) => fire.getTime())).toEqual(
    jobSchedule(job.definition)!.between(born, job.plannedUntil.getTime()),
  );
}

test(
  "a healthy standby is ready, and both tell who leads",
  async () => {
    const leader = await leaderAfter(0);
    await fires();
    for (const node of cluster.schedulers) {
      await until(async () => (await fetch(`${node.httpUrl}/readyz`)).status === 200, {
        ...patient,
        what: "readiness",
      });
      const status = await (await fetch(`${node.httpUrl}/v1/status`)).json();
      expect(status).toMatchObject({
        node: node.name,
        role: node.name === leader.node ? "leader" : "standby",
        leader: { node: leader.node, epoch: leader.epoch, alive: true },
      });
    }
  },
  limit,
);

test(
  "a leader that is told to stop gives the lease back: nobody waits for its end",
  async () => {
    const leader = await leaderAfter(0);
    await cluster.node(leader.node).stop();
    const { rows } = await cluster.store.query<{ given: boolean }>(
      "SELECT epoch > $1 OR expires_at = '-infinity' AS given FROM escapement.leader",
      [leader.epoch],
    );
    expect(rows).toEqual([{ given: true }]);
    await leaderAfter(leader.epoch, leader.node);
    await cluster.node(leader.node).start();
    await cluster.ready(leader.node);
    await expectEachOnce();
  },
  limit,
);

test(
  "a killed leader is followed by the other one, again and again, and each fire exists once",
  async () => {
    const seed = 20_260_701;
    console.log(`seed ${seed}`);
    let random = seed;
    for (let trial = 0; trial < 4; trial += 1) {
      random = (random * 48_271) % 2_147_483_647;
      const leader = await leaderAfter(0);
      // Somewhere in a second, with a fire at each end of it.
      await new Promise((resolve) => setTimeout(resolve, random % 1_000));
      await cluster.node(leader.node).kill();
      await leaderAfter(leader.epoch, leader.node);
      await fires();
      await cluster.node(leader.node).restart();
      await cluster.ready(leader.node);
    }
    await expectEachOnce();
  },
  limit,
);

test(
  "a frozen leader is followed; thawed, it knows that it was, and writes nothing under its old epoch",
  async () => {
    const leader = await leaderAfter(0);
    cluster.node(leader.node).freeze();
    const next = await leaderAfter(leader.epoch, leader.node);
    const { rows } = await cluster.store.query<{ at: Date }>("SELECT clock_timestamp() AS at");
    cluster.node(leader.node).thaw();
    await until(async () => (await metric(leader.node, "escapement_scheduler_demotions_total")) >= 1, {
      ...patient,
      what: "the demotion",
    });
    await fires();
    expect(await count(`epoch = ${leader.epoch} AND planned_at > '${rows[0]!.at.toISOString()}'`)).toBe(0);
    expect(next.epoch).toBeGreaterThan(leader.epoch);
    expect(await metric(leader.node, "escapement_scheduler_leader")).toBe(0);
    await expectEachOnce();
  },
  limit,
);

test(
  "the database is stopped at once and comes back: planning goes on, each fire once",
  async () => {
    await fires();
    await cluster.server.stop("immediate");
    await until(async () => (await fetch(`${cluster.schedulers[0]!.httpUrl}/readyz`)).status === 503, {
      ...patient,
      what: "a scheduler that says it is not ready",
    });
    // One that is started without a database waits for it.
    const waiting = cluster.schedulers[1]!;
    await waiting.restart();
    await until(() => waiting.logTail(4_000).includes("does not answer yet"), {
      ...patient,
      what: "a scheduler that waits for its database",
    });
    await cluster.server.start();
    await until(async () => (await count("true")) > 0, { ...patient, what: "the store" });
    await fires();
    await expectEachOnce();
  },
  limit,
);

test(
  "a leader cut off from the database is followed, and comes back as a standby",
  async () => {
    const leader = await leaderAfter(0);
    cluster.cutNetwork(leader.node);
    await leaderAfter(leader.epoch, leader.node);
    await fires();
    cluster.heal(leader.node);
    await until(async () => (await fetch(`${cluster.node(leader.node).httpUrl}/readyz`)).status === 200, {
      ...patient,
      what: "readiness after the cut",
    });
    await expectEachOnce();
  },
  limit,
);

test.skipIf(clocksMissing)(
  "schedulers five minutes ahead and behind fire nothing early and nothing twice",
  async () => {
    const [one, two] = cluster.schedulers;
    await cluster.setClock(one!.name, fiveMinutes);
    await cluster.setClock(two!.name, -fiveMinutes);
    const leader = await leaderAfter(0);
    await fires();
    await cluster.node(leader.node).kill();
    await leaderAfter(leader.epoch, leader.node);
    await fires();
    expect(await count("opened_at < fire_time")).toBe(0);
    await expectEachOnce();
    await cluster.setClock(one!.name, 0);
    await cluster.setClock(two!.name, 0);
    await cluster.node(leader.node).start();
    await cluster.ready(leader.node);
  },
  limit,
);

test.skipIf(clocksMissing)(
  "the database's clock is stepped forward and back: nothing twice, both steps on record and alerted",
  async () => {
    const steps = async (sign: string) => {
      const { rows } = await cluster.store.query<{ n: number }>(
        `SELECT count(*)::int AS n FROM escapement.clock_sample WHERE kind = 'step' AND offset_ms ${sign} 0`,
      );
      return rows[0]!.n;
    };
    await fires();
    await cluster.setClock("store", 60_000);
    await until(async () => (await steps(">")) >= 1, { ...patient, what: "the step forward on record" });
    await cluster.setClock("store", 0);
    await until(async () => (await steps("<")) >= 1, { ...patient, what: "the step back on record" });
    const { rows } = await cluster.store.query<{ kind: string }>(
      "SELECT DISTINCT kind FROM escapement.alert_outbox WHERE kind = 'store-clock-step'",
    );
    expect(rows).toHaveLength(1);
    await leaderAfter(0);
    await expectEachOnce();
  },
  limit,
);

test(
  "other time-zone data: never ready, never leads, and says why",
  async () => {
    await cluster.store.query("UPDATE escapement.cluster SET time_zone_data = '1999z'");
    const node = cluster.schedulers[0]!;
    await node.restart();
    await cluster.ready(node.name);
    await until(
      async () => {
        const response = await fetch(`${node.httpUrl}/readyz`);
        return response.status === 503 && (await response.text()).includes("1999z");
      },
      { ...patient, what: "readiness refused with the reason" },
    );
    const other = cluster.schedulers[1]!;
    await other.kill();
    await until(async () => !(await cluster.leader()), { ...patient, what: "the end of the other's lease" });
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    expect(await cluster.leader()).toBeUndefined();
  },
  limit,
);

test(
  "a port in use ends the process with code 69 and a message that names it",
  async () => {
    const node = cluster.schedulers[0]!;
    const second = await startEscapement(
      ["scheduler", "--cluster", cluster.clusterFile, "--node", node.name],
      {
        environment: { ESCAPEMENT_STORE_URL: cluster.storeUrl },
      },
    );
    expect((await second.exited).code).toBe(69);
    expect(second.stderr() + second.stdout()).toContain(new URL(node.httpUrl!).port);
  },
  limit,
);
