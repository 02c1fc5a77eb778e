/**
 * A child never outlives its executor, and never runs past the lease: SIGKILL and
 * SIGSTOP of the executor, SIGKILL of the supervisor, both.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { Database } from "../../src/store/database.ts";
import { until } from "../support/until.ts";
import { isRunning } from "./process-state.ts";
import { Workshop } from "./workshop.ts";

/** Beats into a file every 50 ms; a background process of the same group and one outside of it do, too. */
const beating = (workshop: Workshop) => `
  beat() { while :; do date +%s%N > ${workshop.path("beat")}-$1; sleep 0.05; done; }
  echo "$$" >> ${workshop.path("pids")}
  beat inner & echo $! >> ${workshop.path("pids")}
  setsid sh -c 'echo $$ >> ${workshop.path("pids")}; while :; do sleep 0.05; done' &
  beat outer`;

async function startBeating(workshop: Workshop, more = {}) {
  await workshop.job("beating", beating(workshop), more);
  const run = await workshop.run("beating");
  await until(() => workshop.lines("pids").length >= 3, { what: "three processes" });
  return { run, pids: workshop.lines("pids").slice(0, 3).map(Number) };
}

function supervisorOf(executorPid: number): number {
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      if (
        readFileSync(`/proc/${name}/environ`, "latin1").includes(`ESCAPEMENT_SUPERVISOR_OF=${executorPid}:`)
      )
        return Number(name);
    } catch {}
  }
  throw new Error(`no supervisor of ${executorPid}`);
}

const allGone = (pids: readonly number[], deadlineMs = 5_000) =>
  until(() => !pids.some(isRunning), { what: `the end of ${pids}`, deadlineMs });

test("SIGKILL of the executor: its children die at once, and a restart takes the shard back", async () => {
  const workshop = await Workshop.open({ lease: "60s", renewEvery: "5s", stopEarly: "3s" });
  const first = await workshop.executor();
  const { run, pids } = await startBeating(workshop);
  const supervisor = supervisorOf(first.pid);
  first.kill("SIGKILL");
  await allGone([...pids, supervisor]);
  const second = await workshop.executor();
  // Long before the lease of a minute.
  await second.seen(/took over from an incarnation that is gone/);
  await until(async () => (await workshop.attempts(run)).length === 1, {
    what: "the first attempt's record",
  });
  expect((await workshop.attempts(run))[0]).toMatchObject({ attempt: 1, outcome: "lease-expired" });
  await until(() => workshop.lines("pids").length >= 6, { what: "the second attempt", deadlineMs: 5_000 });
});

test("SIGKILL of the supervisor: its children die, the attempt is tried again under a new one", async () => {
  const workshop = await Workshop.open();
  const executor = await workshop.executor();
  const { run, pids } = await startBeating(workshop);
  process.kill(supervisorOf(executor.pid), "SIGKILL");
  await allGone(pids);
  await executor.seen(/the supervisor died/);
  await until(() => workshop.lines("pids").length >= 6, { what: "the second attempt" });
  expect(await workshop.attempts(run)).toMatchObject([
    { attempt: 1, outcome: "retry", error: "killed: the supervisor of its executor died" },
  ]);
});

test("SIGKILL of executor and supervisor together: the group dies at once, what left it at the restart", async () => {
  const workshop = await Workshop.open({ lease: "60s", renewEvery: "5s", stopEarly: "3s" });
  const executor = await workshop.executor();
  const { pids } = await startBeating(workshop);
  const supervisor = supervisorOf(executor.pid);
  process.kill(supervisor, "SIGKILL");
  executor.kill("SIGKILL");
  await allGone([supervisor, pids[0]!, pids[1]!]);
  await workshop.executor();
  await allGone(pids);
});

test("SIGSTOP of the executor: its children die before the lease ends; its late write is refused and counted", async () => {
  const workshop = await Workshop.open({
    lease: "4s",
    renewEvery: "500ms",
    stopEarly: "1500ms",
    nodes: ["worker-1", "worker-2"],
  });
  const frozen = await workshop.executor();
  const { run, pids } = await startBeating(workshop);
  frozen.kill("SIGSTOP");
  const other = await workshop.executor({ node: "worker-2" });
  await allGone(pids, 6_000);
  // Dead while the store still counts the lease: nobody else can have started before.
  const { rows } = await workshop.db.query<{ left: number }>(
    "SELECT extract(epoch FROM lease_until - clock_timestamp())::float8 AS left FROM escapement.executor WHERE node = 'worker-1'",
  );
  expect(rows[0]!.left).toBeGreaterThan(0);
  await other.seen(/executor declared dead/);
  await until(() => workshop.lines("pids").length >= 6, { what: "the attempt elsewhere" });
  frozen.kill("SIGCONT");
  await frozen.seen(/outcome refused: the claim is not held any more/);
  expect(await workshop.staleWrites()).toEqual(["retry"]);
  expect((await workshop.shards(run))[0]).toMatchObject({ status: "running", attempt: 2, owner: "worker-2" });
  // It goes on as a new incarnation.
  await until(() => frozen.stdout().match(/executor registered/g)?.length === 2, {
    what: "its new incarnation",
  });
});

test("SIGSTOP of the supervisor: the executor notices, kills and replaces it", async () => {
  const workshop = await Workshop.open({ lease: "4s", renewEvery: "500ms", stopEarly: "1s" });
  const executor = await workshop.executor();
  const { pids } = await startBeating(workshop);
  const supervisor = supervisorOf(executor.pid);
  process.kill(supervisor, "SIGSTOP");
  await allGone([...pids, supervisor], 10_000);
  await executor.seen(/it has not answered for/);
  await until(() => workshop.lines("pids").length >= 6, { what: "the second attempt" });
});

test("a store that goes away: children die in time, except those that continue fenced", async () => {
  const workshop = await Workshop.open({ lease: "3s", renewEvery: "500ms", stopEarly: "1s" });
  const executor = await workshop.executor();
  await workshop.job(
    "fenced",
    `echo "$$" > ${workshop.path("fenced")}; while [ ! -e ${workshop.path("go")} ]; do sleep 0.1; done`,
    {
      onStoreLoss: "continue-fenced",
    },
  );
  const { run, pids } = await startBeating(workshop);
  const fenced = await workshop.run("fenced");
  const fencedPid = Number(await until(() => workshop.lines("fenced")[0], { what: "the fenced one" }));
  const name = new URL(workshop.url).pathname.slice(1);
  const admin = new Database(workshop.url.replace(/\/[^/]*$/, "/postgres"), { maxConnections: 1 });
  await admin.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
  await admin.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1", [name]);
  await executor.seen(/lease lost; killed what ran/);
  await allGone(pids);
  expect(isRunning(fencedPid)).toBe(true);
  await admin.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
  await admin.end();
  writeFileSync(workshop.path("go"), "");
  const ended = await workshop.ended(fenced);
  expect(ended.status).toBe("success");
  // The other one runs again, as the next attempt.
  await until(() => workshop.lines("pids").length >= 6, { what: "the second attempt" });
  expect((await workshop.shards(run))[0]).toMatchObject({ status: "running", attempt: 2 });
});
