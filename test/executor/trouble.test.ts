/** Things that go wrong around an executor: store, answers, clocks, disk. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { freePort } from "../../src/lab/free-port.ts";
import { findClockLibrary, ProcessClock } from "../../src/lab/process-clock.ts";
import { startTcpProxy } from "../../src/lab/tcp-proxy.ts";
import { unavailable } from "../support/tier.ts";
import { until } from "../support/until.ts";
import { Workshop } from "./workshop.ts";

/** A workshop whose executors reach the store through a network that can be broken. */
async function behindProxy(options = {}) {
  const port = await freePort();
  const workshop = await Workshop.open({
    ...options,
    storeUrl: (url) => {
      const through = new URL(url);
      through.host = `127.0.0.1:${port}`;
      return through.href;
    },
  });
  const proxy = await startTcpProxy({ port: Number(new URL(workshop.url).port) }, port);
  onTestFinished(() => proxy.close());
  return { workshop, proxy };
}

test("a store that is down at the start is waited for", async () => {
  const { workshop, proxy } = await behindProxy();
  proxy.cut();
  const executor = await workshop.executor({ wait: false });
  await executor.seen(/waiting for the record store/);
  await workshop.job("late", "exit 0");
  const run = await workshop.run("late");
  proxy.heal();
  await workshop.ended(run);
});

test("a lost answer to an outcome is not a stale write: the records are asked", async () => {
  const { workshop, proxy } = await behindProxy();
  const executor = await workshop.executor();
  await workshop.job(
    "quiet",
    `touch ${workshop.path("up")}; while [ ! -e ${workshop.path("go")} ]; do sleep 0.02; done`,
  );
  const run = await workshop.run("quiet");
  await until(() => existsSync(workshop.path("up")), { what: "the start" });
  // The statement reaches the server and waits there for a lock; its answer is lost on the way back.
  await workshop.db.transaction(async (tx) => {
    await tx.query("SELECT 1 FROM escapement.shard_live FOR UPDATE");
    writeFileSync(workshop.path("go"), "");
    await until(
      async () => {
        const { rows } = await workshop.db.query(
          "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%escapement.complete(%' AND datname = current_database()",
        );
        return rows.length > 0;
      },
      { what: "the waiting statement" },
    );
    proxy.pause("to-client");
  });
  await workshop.ended(run);
  proxy.cut();
  await executor.seen(/outcomes could not be written/);
  proxy.heal();
  await executor.seen(/"outcome":"success".*"msg":"attempt ended"/);
  expect(await workshop.staleWrites()).toEqual([]);
});

test("a claim whose answer was lost is handed back, and does not count as a try", async () => {
  const workshop = await Workshop.open({ slots: { cpu: 1, memory: 0, io: 0 } });
  const executor = await workshop.executor();
  await workshop.job("orphan", "exit 0", { resources: { class: "io", peakMemoryBytes: 1 } });
  const run = await workshop.run("orphan");
  // The executor has no slot of that class: it opens the execution, and we claim in its name.
  await until(
    async () => {
      const { rows } = await workshop.db.query(
        "SELECT c.* FROM escapement.executor x, LATERAL escapement.claim(x.incarnation, 3::smallint, 1, false, 0.5) c",
      );
      return rows.length > 0;
    },
    { what: "the claim" },
  );
  await executor.seen(/handing back shards whose claim was not answered/);
  const attempts = await until(
    async () => {
      const rows = await workshop.attempts(run);
      return rows.length > 0 && rows;
    },
    { what: "its record" },
  );
  expect(attempts).toMatchObject([{ outcome: "interrupted", error: "the answer to its claim was lost" }]);
  const { rows } = await workshop.db.query<{ tries: number }>("SELECT tries FROM escapement.shard_live");
  expect(rows).toEqual([{ tries: 0 }]);
});

test("a short cut of the network harms nothing that runs", async () => {
  const { workshop, proxy } = await behindProxy({ lease: "8s", renewEvery: "1s", stopEarly: "1s" });
  const executor = await workshop.executor();
  await workshop.job(
    "through",
    `touch ${workshop.path("up")}; while [ ! -e ${workshop.path("go")} ]; do sleep 0.05; done`,
  );
  const run = await workshop.run("through");
  await until(() => existsSync(workshop.path("up")), { what: "the start" });
  proxy.cut();
  await executor.seen(/the lease could not be renewed; trying again/);
  proxy.heal();
  await executor.seen(/the lease is renewed again/);
  writeFileSync(workshop.path("go"), "");
  await workshop.ended(run);
  expect(await workshop.attempts(run)).toEqual([]);
});

test.skipIf(unavailable("libfaketime", findClockLibrary() !== undefined))(
  "a wall clock that jumps by five minutes, either way, changes nothing",
  async () => {
    const workshop = await Workshop.open({ lease: "3s", renewEvery: "500ms", stopEarly: "1s" });
    const clock = new ProcessClock(workshop.path("clock"));
    await clock.set(300_000);
    const executor = await workshop.executor({ environment: clock.environment });
    onTestFinished(() => clock.forget(executor.pid));
    await workshop.job("long", `date +%s > ${workshop.path("date")}; sleep 9`);
    const long = await workshop.run("long");
    await until(async () => (await workshop.shards(long))[0]?.status === "running", { what: "the start" });
    await clock.set(-300_000);
    await workshop.job("short", "exit 0");
    await workshop.ended(await workshop.run("short"));
    const { rows } = await workshop.db.query<{ offset: number }>(
      "SELECT offset_ms AS offset FROM escapement.executor",
    );
    expect(rows).toHaveLength(1);
    expect(rows[0]!.offset).toBeLessThan(-290_000);
    await clock.set(300_000);
    await workshop.ended(long);
    expect(await workshop.attempts(long)).toEqual([]);
  },
);

test("logs are rotated by size, and only so many are kept", async () => {
  const workshop = await Workshop.open({ logs: { maxFile: "20KiB", keepFiles: 2 } });
  await workshop.executor();
  await workshop.job("chatty", 'i=0; while [ $i -lt 2000 ]; do echo "line $i"; i=$((i + 1)); done');
  await workshop.ended(await workshop.run("chatty"));
  // The end of an attempt does not wait for its last output to be on the disk.
  await until(() => workshop.jobLog("chatty").includes("line 1999\n"), { what: "the last line" });
  expect(readdirSync(workshop.path("logs/worker-1/default")).sort()).toEqual([
    "chatty.log",
    "chatty.log.1",
    "chatty.log.2",
  ]);
  expect(workshop.jobLog("chatty").length).toBeLessThan(3 * 20 * 1024);
});

test("a log folder that cannot be written: the job runs all the same, and an alert stands", async () => {
  const workshop = await Workshop.open();
  // A file where the folder should be: fails for root, too.
  mkdirSync(workshop.path("logs"));
  writeFileSync(workshop.path("logs/worker-1"), "");
  const executor = await workshop.executor();
  await workshop.job("muted", "head -c 3000000 /dev/zero | tr '\\0' x; echo end");
  await workshop.ended(await workshop.run("muted"));
  await executor.seen(/output of attempts is dropped/);
  const alert = await until(
    async () => {
      const { rows } = await workshop.db.query<{ kind: string; message: string }>(
        "SELECT kind, message FROM escapement.alert_outbox",
      );
      return rows[0];
    },
    { what: "the alert" },
  );
  expect(alert.kind).toBe("log-trouble");
  expect(alert.message).toMatch(/worker-1 drops output of attempts: (ENOTDIR|EEXIST)/);
});

test("a full disk under the log folder: the job runs all the same", async (context) => {
  const workshop = await Workshop.open();
  const disk = workshop.path("logs");
  mkdirSync(disk);
  try {
    execFileSync("/bin/mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", disk], { stdio: "pipe" });
  } catch {
    if (unavailable("mounting a small tmpfs", false)) context.skip();
  }
  onTestFinished(() => void execFileSync("/bin/umount", ["-l", disk]));
  const executor = await workshop.executor();
  await workshop.job("flood", "head -c 3000000 /dev/zero | tr '\\0' x; echo end");
  await workshop.ended(await workshop.run("flood"));
  await executor.seen(/output of attempts is dropped/);
  expect(executor.stdout()).toMatch(/"reason":"ENOSPC/);
});
