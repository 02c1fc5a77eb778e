/** Each trouble planted in a real record store, found by the watchman's own role, and nothing else found. */
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { applyJob, deleteJob, pauseJob, resumeJob } from "../../src/store/job-change.ts";
import { rerun } from "../../src/store/manual-rerun.ts";
import { openDue } from "../../src/store/opening.ts";
import { reportDisks } from "../../src/store/store-disk.ts";
import { noteTimeSource } from "../../src/store/time-source.ts";
import { judge } from "../../src/watchman/judge.ts";
import { unwatched } from "../../src/watchman/unwatched.ts";
import { deed } from "../store/bench.ts";
import { digestOf, testJob } from "../support/job.ts";
import { minuteMs, WatchBench } from "./watch-bench.ts";
import { timeSource } from "./well-picture.ts";

const tenMinutes = { schedule: { kind: "every", everyMs: 10 * minuteMs } } as const;
const hour = 60 * minuteMs;

test("nothing is wrong with a job that has done all its fires", async () => {
  const watch = await WatchBench.open();
  await watch.bench.executor();
  const job = await watch.job("steady", hour, tenMinutes);
  await watch.succeed(job, await watch.pastFires(10 * minuteMs, 6));
  expect(await watch.findings()).toEqual([]);
});

test("a fire without a row between others is a gap, until it has been run", async () => {
  const watch = await WatchBench.open();
  await watch.bench.executor();
  const job = await watch.job("holed", hour, tenMinutes);
  const fires = await watch.pastFires(10 * minuteMs, 6);
  const [hole] = fires.splice(3, 1);
  await watch.succeed(job, fires);
  const findings = await watch.findings();
  expect(findings.map(({ rule }) => rule)).toEqual(["fire-gap"]);
  expect(findings[0]).toMatchObject({ severity: "critical", job: "default/holed", fireTime: hole });
  // A deep hole is found once; it must not be forgotten by the next pass.
  expect(await watch.rules()).toEqual(["fire-gap"]);
  await watch.succeed(job, [hole!]);
  expect(await watch.rules()).toEqual([]);
});

test("planned and due for more than a minute is not opened", async () => {
  const watch = await WatchBench.open();
  await watch.bench.executor();
  const job = await watch.job("waiting", 30 * minuteMs, { schedule: { kind: "manual" } });
  const fire = await watch.bench.at(-2 * minuteMs);
  await watch.bench.plan(job, [fire]);
  const findings = await watch.findings();
  expect(findings.map(({ rule, fireTime }) => [rule, fireTime])).toEqual([["not-opened", fire]]);
  await openDue(watch.bench.db);
  expect(await watch.rules()).toEqual([]);
});

test("fires that the scheduler has not come to are not opened, with their common cause", async () => {
  const watch = await WatchBench.open();
  await watch.bench.executor();
  const job = await watch.job("behind", hour, tenMinutes);
  const fires = await watch.pastFires(10 * minuteMs, 6);
  // Four are missing, of which the last may be younger than what counts as late.
  await watch.succeed(job, fires.slice(0, 2));
  await watch.bench.db.query(
    "UPDATE escapement.leader SET expires_at = clock_timestamp() - interval '2 minutes'",
  );
  const findings = await watch.findings();
  expect(new Set(findings.map(({ rule }) => rule))).toEqual(
    new Set(["no-leader", "missing-success", "not-opened", "records-not-growing"]),
  );
  expect(findings.find(({ rule }) => rule === "not-opened")).toMatchObject({ fireTime: fires[2] });
  expect(new Set(findings.map(({ cause }) => cause))).toEqual(new Set(["no-leader"]));
});

test("a paused job is silent, and so is its pause after it is resumed", async () => {
  const watch = await WatchBench.open();
  await watch.bench.executor();
  const job = await watch.job("resting", 2 * hour, tenMinutes);
  const fires = await watch.pastFires(10 * minuteMs, 12);
  await watch.succeed(job, fires.slice(0, 3));
  await pauseJob(watch.bench.db, await watch.bench.job("resting"), deed);
  // The pause began when the third fire was done.
  const since = new Date(fires[2]!.getTime() + minuteMs);
  await watch.bench.db.query("UPDATE escapement.operation SET at = $1 WHERE action = 'jobs pause'", [since]);
  await watch.bench.db.query("UPDATE escapement.job SET state_since = $1, planned_until = $1", [since]);
  await watch.bench.db.query("DELETE FROM escapement.execution WHERE fire_time > $1", [since]);
  expect(await watch.findings()).toEqual([]);
  await resumeJob(watch.bench.db, await watch.bench.job("resting"), deed);
  expect(await watch.findings()).toEqual([]);
  await deleteJob(watch.bench.db, await watch.bench.job("resting"), deed);
  expect(await watch.findings()).toEqual([]);
});

test("an edited schedule counts from its own instant, and is said", async () => {
  const watch = await WatchBench.open();
  await watch.bench.executor();
  const job = await watch.job("edited", 2 * hour, tenMinutes);
  await watch.succeed(job, await watch.pastFires(10 * minuteMs, 12));
  const after = testJob("edited", { schedule: { kind: "every", everyMs: minuteMs } });
  await applyJob(watch.bench.db, after, digestOf(after), deed);
  const findings = await watch.findings();
  expect(findings.map(({ rule, severity }) => [rule, severity])).toEqual([["schedule-edited", "info"]]);
});

test("an execution that failed for good is found under the store's own key until it is run again", async () => {
  const watch = await WatchBench.open();
  const executor = await watch.bench.executor();
  const job = await watch.job("failing", hour, { schedule: { kind: "manual" } });
  const fire = await watch.bench.at(-10_000);
  await watch.bench.plan(job, [fire]);
  for (let attempt = 0; attempt < 3; attempt += 1)
    await watch.bench.work(executor, attempt < 2 ? "retry" : "failed");
  const [finding, ...others] = await watch.findings();
  const key = await watch.bench.value<string>(
    "SELECT dedup_key FROM escapement.alert_outbox WHERE kind = 'shard-failed'",
  );
  expect(others).toEqual([]);
  expect(finding).toMatchObject({ rule: "retry-exhausted", key, fireTime: fire, job: "default/failing" });
  await rerun(watch.bench.db, await watch.bench.job("failing"), fire, {}, deed);
  expect(await watch.rules()).toEqual([]);
});

test("a shard of an executor whose lease has ended is stuck, with its executor as the cause", async () => {
  const watch = await WatchBench.open();
  const executor = await watch.bench.executor();
  const job = await watch.job("stuck", hour, { schedule: { kind: "manual" } });
  await watch.bench.plan(job, [await watch.bench.at(-10_000)]);
  await openDue(watch.bench.db);
  await watch.bench.claim(executor);
  await watch.bench.db.query(
    "UPDATE escapement.executor SET lease_until = clock_timestamp() - interval '2 minutes'",
  );
  const other = await watch.bench.executor();
  const node = await watch.bench.value<string>(
    "SELECT node FROM escapement.executor WHERE incarnation = $1",
    [executor],
  );
  const findings = await watch.findings();
  expect(findings.map(({ rule, cause }) => [rule, cause])).toEqual([["stuck-running", `executor:${node}`]]);
  expect(other).not.toBe(executor);
});

test("a definition that was changed behind everybody's back does not pass", async () => {
  const watch = await WatchBench.open();
  await watch.bench.executor();
  await watch.job("quiet", minuteMs, {});
  expect(await watch.rules()).toEqual([]);
  await watch.bench.db.query("UPDATE escapement.job_version SET digest = 'sha256:other'");
  // Digests are compared every tenth pass.
  let rules: string[] = [];
  for (let pass = 0; pass < 10; pass += 1) rules = await watch.rules();
  expect(rules).toEqual(["definition-changed"]);
});

test("two rows that hold the virtual address, or none for a minute, and the memory of the last holder", async () => {
  const watch = await WatchBench.open();
  await watch.bench.executor();
  const { db } = watch.bench;
  const seen = (node: string, holds: boolean | null) =>
    db.query(
      `INSERT INTO escapement.scheduler (incarnation, node, host, pid, version, time_zone_data, role, holds_virtual_address, virtual_address_seen_at)
       VALUES (gen_random_uuid(), $1, $1, 1, '', '', 'standby', $2::boolean, CASE WHEN $2::boolean IS NOT NULL THEN clock_timestamp() END)`,
      [node, holds],
    );
  await seen("a", null);
  expect((await watch.read()).virtualAddressHeldAt).toBeNull();
  await seen("a", true);
  await seen("b", true);
  expect(await watch.rules()).toEqual(["two-virtual-address-holders"]);
  const heldAt = (await watch.read()).virtualAddressHeldAt!;
  await seen("a", false);
  await seen("b", false);
  const picture = await watch.read();
  // The rows no longer say it: the reader does.
  expect(Math.abs(picture.virtualAddressHeldAt!.getTime() - heldAt.getTime())).toBeLessThan(5_000);
  expect(picture.virtualAddressHeldAt!.getTime()).toBeLessThan(picture.now.getTime());
  expect(await watch.rules()).toEqual([]);
  const later = { ...picture, now: new Date(picture.now.getTime() + 60_000) };
  const stillFresh = { ...watch.settings, virtualAddressFreshMs: 90_000 };
  expect(judge(later, stillFresh).map(({ rule }) => rule)).toContain("no-virtual-address-holder");
});

test("what hosts say of their time service comes back as it was written, and is judged", async () => {
  const watch = await WatchBench.open();
  const executor = await watch.bench.executor();
  const { db } = await watch.bench.as("executor");
  expect(await noteTimeSource(db, "executor", randomUUID(), timeSource())).toBe(false);
  expect(await noteTimeSource(db, "executor", executor, timeSource())).toBe(true);
  expect(await watch.rules()).toEqual([]);
  const { at, ...well } = timeSource();
  expect((await watch.read()).executors[0]!.timeSource).toMatchObject(well);
  expect(at).toBeDefined();
  await noteTimeSource(db, "executor", executor, timeSource({ isSynchronized: false }));
  expect(await watch.rules()).toEqual(["time-source"]);
  await watch.bench.db.query("UPDATE escapement.executor SET time_source = '{}'");
  expect(await watch.rules()).toEqual(["time-source"]);
});

test("the store's disks are judged as their host has reported them, and are called unwatched without", async () => {
  const watch = await WatchBench.open();
  await watch.bench.executor();
  const named = async () => unwatched(await watch.read(), watch.settings).join();
  expect(await named()).toContain("disks of the store's host");
  const { db } = await watch.bench.as("scheduler");
  await reportDisks(db, "db-1", [{ path: "/data", totalBytes: 1e12, freeBytes: 5e10 }]);
  expect(await watch.findings()).toMatchObject([{ rule: "store-disk", severity: "critical" }]);
  expect(await named()).not.toContain("disks");
  await reportDisks(db, "db-1", [{ path: "/data", totalBytes: 1e12, freeBytes: 9e11 }]);
  expect(await watch.rules()).toEqual([]);
  await watch.bench.db.query("UPDATE escapement.store_disk SET at = at - interval '6 minutes'");
  expect(await watch.findings()).toMatchObject([{ rule: "store-disk", severity: "warning" }]);
  // What the host has no more is gone with its next report.
  await reportDisks(db, "db-1", [{ path: "/wal", totalBytes: 1e12, freeBytes: 9e11 }]);
  expect((await watch.read()).storeDisks.map(({ path }) => path)).toEqual(["/wal"]);
});

test("a lease that was given back counts from its holder's last word, and without one from when that was seen", async () => {
  const watch = await WatchBench.open();
  await watch.bench.executor();
  const { db } = watch.bench;
  await db.query("UPDATE escapement.leader SET expires_at = '-infinity'");
  const first = await watch.read();
  expect(first.leader.expiresAt).toEqual(first.now);
  expect(judge(first, watch.settings)).toEqual([]);
  // The next pass does not begin to count anew.
  const second = await watch.read();
  expect(second.leader.expiresAt).toEqual(first.now);
  const later = { ...second, now: new Date(first.now.getTime() + 61_000) };
  expect(judge(later, watch.settings)).toMatchObject([
    { rule: "no-leader", message: expect.stringMatching(/ended .* ago/) },
  ]);
  await db.query(
    `INSERT INTO escapement.scheduler (incarnation, node, host, pid, version, time_zone_data, role, last_seen)
     VALUES (gen_random_uuid(), 'test', 'a', 1, '', '', 'stopped', clock_timestamp() - interval '2 minutes')`,
  );
  expect(await watch.rules()).toEqual(["no-leader"]);
});
