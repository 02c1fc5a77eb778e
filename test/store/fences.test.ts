/** Invariants 3 and 4: every write carries its token, its incarnation or its epoch; an old one changes nothing. */
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { sqlState } from "../../src/store/database.ts";
import { renewExecutor } from "../../src/store/executor.ts";
import { acquireLeadership, releaseLeadership, renewLeadership } from "../../src/store/leadership.ts";
import { writePlan } from "../../src/store/planning.ts";
import { testJob } from "../support/job.ts";
import { Bench } from "./bench.ts";

const who = () => ({ holder: randomUUID(), node: "test", host: "test" });

async function endLeadership(bench: Bench): Promise<void> {
  await bench.db.query(
    "UPDATE escapement.leader SET expires_at = clock_timestamp() - interval '1 millisecond'",
  );
}

test("one leader: of many who ask at once one gets the lease, and each change adds one to the epoch", async () => {
  const bench = await Bench.open();
  for (const epoch of [1, 2, 3]) {
    const won = await Promise.all(
      Array.from({ length: 8 }, () => acquireLeadership(bench.db, who(), 60_000)),
    );
    expect(won.filter((one) => one !== null)).toEqual([epoch]);
    await endLeadership(bench);
  }
});

test("a renewal needs holder, epoch and a lease that has not ended", async () => {
  const bench = await Bench.open();
  const me = who();
  const epoch = (await acquireLeadership(bench.db, me, 60_000))!;
  expect(await renewLeadership(bench.db, me.holder, epoch)).toBeInstanceOf(Date);
  expect(await renewLeadership(bench.db, randomUUID(), epoch)).toBeNull();
  expect(await renewLeadership(bench.db, me.holder, epoch - 1)).toBeNull();
  await endLeadership(bench);
  expect(await renewLeadership(bench.db, me.holder, epoch)).toBeNull();
});

test("giving the leadership back takes nobody else's", async () => {
  const bench = await Bench.open();
  const me = who();
  const epoch = (await acquireLeadership(bench.db, me, 60_000))!;
  await endLeadership(bench);
  const other = who();
  const next = (await acquireLeadership(bench.db, other, 60_000))!;
  await releaseLeadership(bench.db, me.holder, epoch);
  await releaseLeadership(bench.db, me.holder, next);
  expect(await renewLeadership(bench.db, other.holder, next)).not.toBeNull();
});

test("a lease does not look valid from inside an old transaction", async () => {
  const bench = await Bench.open();
  const me = who();
  const epoch = (await acquireLeadership(bench.db, me, 1_500))!;
  const job = await bench.apply(testJob("old"));
  const owner = await bench.executor({ leaseMs: 1_500 });
  await bench.db.transaction(async (tx) => {
    // The transaction's own now() stays before the end of both leases.
    await tx.query("SELECT pg_sleep(1.8)");
    const { rows } = await tx.query<{ old: boolean }>(
      "SELECT now() < (SELECT expires_at FROM escapement.leader) AND now() < (SELECT lease_until FROM escapement.executor) AS old",
    );
    expect(rows).toEqual([{ old: true }]);
    expect(await renewLeadership(tx, me.holder, epoch)).toBeNull();
    expect(await renewExecutor(tx, owner, null)).toBeNull();
    const plan = [{ jobId: job.jobId, version: 1, from: job.plannedUntil, to: await bench.now(), fires: [] }];
    await tx.query("SAVEPOINT before");
    const refused = await writePlan(tx, me.holder, epoch, plan).catch((error: unknown) => error);
    expect(sqlState(refused)).toBe("ES001");
    await tx.query("ROLLBACK TO before");
    const claimed = await tx
      .query("SELECT * FROM escapement.claim($1, 1::smallint, 1, false, 0.5)", [owner])
      .catch((error: unknown) => error);
    expect(sqlState(claimed)).toBe("ES002");
  });
});

test("a plan with an old epoch, another holder or an ended lease is refused, and nothing of it stays", async () => {
  const bench = await Bench.open();
  const job = await bench.apply(testJob("plan"));
  const me = who();
  const epoch = (await acquireLeadership(bench.db, me, 60_000))!;
  const plan = [
    { jobId: job.jobId, version: 1, from: job.plannedUntil, to: await bench.at(60_000), fires: [] },
  ];
  const attempt = async (holder: string, at: number) =>
    sqlState(await writePlan(bench.db, holder, at, plan).catch((error: unknown) => error));
  expect(await attempt(me.holder, epoch - 1)).toBe("ES001");
  expect(await attempt(me.holder, epoch + 1)).toBe("ES001");
  expect(await attempt(randomUUID(), epoch)).toBe("ES001");
  await endLeadership(bench);
  expect(await attempt(me.holder, epoch)).toBe("ES001");
  const next = await acquireLeadership(bench.db, who(), 60_000);
  expect(next).toBe(epoch + 1);
  expect(await attempt(me.holder, epoch)).toBe("ES001");
  expect((await bench.job("plan")).plannedUntil).toEqual(job.plannedUntil);
});

test("a fenced write that began in time holds a takeover back until it is done", async () => {
  const bench = await Bench.open();
  const me = who();
  const epoch = (await acquireLeadership(bench.db, me, 3_000))!;
  let taken: Promise<number | null> | undefined;
  const order: string[] = [];
  await bench.db.transaction(async (tx) => {
    await tx.query("SELECT escapement.leader_fence($1, $2)", [me.holder, epoch]);
    await tx.query("SELECT pg_sleep_until((SELECT expires_at + interval '100 ms' FROM escapement.leader))");
    taken = acquireLeadership(bench.db, who(), 60_000).then((won) => {
      order.push("taken");
      return won;
    });
    await tx.query("SELECT pg_sleep(0.5)");
    order.push("written");
  });
  expect(await taken).toBe(epoch + 1);
  expect(order).toEqual(["written", "taken"]);
});

test("two planners with the same cursor: one moves it, the fires exist once", async () => {
  const bench = await Bench.open();
  const job = await bench.apply(testJob("race"));
  const fire = await bench.at(-1_000);
  await bench.lead();
  const planned = await Promise.all(Array.from({ length: 6 }, () => bench.plan(job, [fire])));
  expect(planned.reduce((sum, one) => sum + one, 0)).toBe(1);
  expect(await bench.statuses(job)).toEqual(["planned"]);
});

test("a plan made before an edit, a pause or a move of the cursor leaves the job alone", async () => {
  const bench = await Bench.open();
  const { holder, epoch } = await bench.lead();
  const job = await bench.apply(testJob("stale"));
  const to = await bench.at(60_000);
  const write = (change: object) =>
    writePlan(bench.db, holder, epoch, [
      { jobId: job.jobId, version: 1, from: job.plannedUntil, to, fires: [], ...change },
    ]);
  expect((await write({ version: 2 })).moved).toBe(0);
  expect((await write({ from: new Date(job.plannedUntil.getTime() - 1) })).moved).toBe(0);
  await bench.db.query("UPDATE escapement.job SET state = 'paused'");
  expect((await write({})).moved).toBe(0);
  await bench.db.query("UPDATE escapement.job SET state = 'active'");
  expect((await write({})).moved).toBe(1);
});
