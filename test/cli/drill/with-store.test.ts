/** Drill commands that talk to the records: the leash, the switch, what people see of a run. */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { installProbes } from "../../../src/chaos/drill/probe-load.ts";
import { beginDrillRun, endDrillRun, listDrillRuns } from "../../../src/store/drill/drill-run.ts";
import { testJob } from "../../support/job.ts";
import { startEscapement } from "../../support/processes.ts";
import { aDrillScene, db, deed, drill, folder, populate, withStore } from "./drill-scene.ts";

aDrillScene();

describe("the leash", () => {
  test("run without --yes prints what it would do, ends with 4, and leaves no trace", async () => {
    await populate();
    const { code, stdout, stderr } = await withStore("run", "stop-primary", "--variant", "crash");
    expect(code).toBe(4);
    expect(stdout).toMatch(/where +sched-2, the leading scheduler/);
    expect(stdout).toMatch(/does +kill -9 of the scheduler, kept from starting again/);
    expect(stdout).toMatch(/for +40s; no longer than 55s, whatever happens/);
    expect(stdout).toMatch(/back by +the host lets the unit start again/);
    expect(stderr).toContain("nothing was done: --yes runs it");
    expect(await listDrillRuns(db)).toEqual([]);
  });

  test("plan says who it would be, by the leases of the cluster file, as JSON too", async () => {
    await populate();
    const { code, stdout } = await withStore("plan", "pause-executor", "--json");
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      schemaVersion: 1,
      class: "executor-paused",
      variants: [
        { host: "exec-1", also: ["exec-2"], refused: null, times: { holdMs: 40_000, settleMs: 30_000 } },
      ],
    });
  });

  test("plan ends with 4 where nobody may be touched, and without a store it does not know", async () => {
    const refused = await withStore("plan", "stop-primary", "--variant", "crash");
    expect(refused.code).toBe(4);
    expect(refused.stdout).toContain("nowhere: no scheduler leads now");
    const blind = await drill("plan", "stop-primary", "--variant", "crash");
    expect(blind.code).toBe(0);
    expect(blind.stderr).toContain("the records were not asked");
    expect(blind.stdout).toContain("which host, the records say when it begins");
  });

  test("hosts and variants that there are not", async () => {
    for (const words of [["plan"], ["run", "--yes", "--port", "0"]]) {
      const host = await withStore(...words, "kill-executor", "--host", "exec-1", "exec-9");
      const there = "there are: sched-1, sched-2, exec-1, exec-2, store-1, watch-1";
      expect([host.code, host.stdout, host.stderr]).toEqual([64, "", expect.stringContaining(there)]);
    }
    const variant = await withStore("plan", "kill-executor", "--variant", "gently");
    expect([variant.code, variant.stderr]).toEqual([
      64,
      expect.stringContaining("it has: restarted, kept-down"),
    ]);
  });

  test("a key that is not there is told before the plan", async () => {
    await populate();
    const args = ["run", "kill-executor", "--yes", "--port", "0", "--key", "nowhere"];
    const { code, stdout, stderr } = await withStore(...args);
    expect([code, stdout, stderr]).toEqual([65, "", expect.stringContaining("cannot read nowhere")]);
    expect(await listDrillRuns(db)).toEqual([]);
  });

  test("hosts that do not answer are a refusal, not a fault", async () => {
    await populate();
    const run = await withStore(
      "run",
      "kill-executor",
      "--variant",
      "restarted",
      "--yes",
      "--port",
      "0",
      "--json",
    );
    expect(run.code).toBe(4);
    const events = run.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { event: string; reason?: string });
    expect(events[0]!.event).toBe("plan");
    expect(events.at(-1)).toMatchObject({ event: "refused", variant: "kill-executor/restarted" });
    expect(events.at(-1)!.reason).toContain("exec-1");
    expect(await listDrillRuns(db)).toMatchObject([{ drill: "kill-executor/restarted", verdict: "unknown" }]);
  }, 120_000);
});

describe("the switch", () => {
  test("halt goes to every host at once and to the records; run is refused until resume", async () => {
    const halted = await withStore("halt", ...deed, "--json");
    // No host could be told, the records could.
    expect(halted.code).toBe(3);
    const { hosts, store } = JSON.parse(halted.stdout) as {
      hosts: { host: string; halted: null; tookMs: number; error: string }[];
      store: { recorded: boolean };
    };
    expect(hosts.map(({ host }) => host)).toEqual([
      ...["sched-1", "sched-2", "exec-1", "exec-2", "store-1", "watch-1"],
    ]);
    for (const { halted: done, error } of hosts) expect([done, typeof error]).toEqual([null, "string"]);
    expect(store.recorded).toBe(true);
    const again = await withStore("halt", ...deed, "--json");
    expect(JSON.parse(again.stdout)).toMatchObject({ store: { recorded: false } });
    const run = await withStore("run", "kill-executor", "--yes", "--port", "0");
    expect(run.code).toBe(4);
    expect(run.stderr).toMatch(/drills are halted since .* by tester: test/);
    expect((await withStore("status")).stdout).toMatch(/^halted since .* by tester: test\nno drill is on/);
    expect((await withStore("resume", ...deed)).stdout).toBe("drills may begin again\n");
    expect((await withStore("resume", ...deed)).stdout).toBe("drills were not halted\n");
    expect((await withStore("status")).stdout).toBe("no drill is on\n");
  }, 240_000);

  test("with the store down the hosts are told all the same, and it is said", async () => {
    const args = ["halt", "-i", "inventory.yaml", "--url", "postgres://nobody@127.0.0.1:1/none", "--json"];
    const { code, stdout } = await drill(...args);
    // Here nobody could be told at all.
    expect(code).toBe(69);
    const { hosts, store } = JSON.parse(stdout) as {
      hosts: unknown[];
      store: { recorded: null; error: string };
    };
    expect(hosts.length).toBe(6);
    expect(store).toMatchObject({ recorded: null, error: expect.stringContaining("does not answer") });
  });

  test("abort asks the run that is on; without one it changes nothing", async () => {
    expect((await withStore("abort", ...deed)).stdout).toBe("no drill is on\n");
    const runId = await begin("exec-1");
    const { code, stdout } = await withStore("abort", ...deed, "--no-wait", "--json");
    expect(code).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({
      run: runId,
      hosts: [{ host: "exec-1", halted: null }],
      ended: null,
    });
    const status = await withStore("status");
    expect(status.stdout).toMatch(/kill-executor \(\w{8}\) on exec-1, by ann/);
    expect(status.stdout).toContain("asked to end: tester: test");
  });

  test("a controller that falls silent: since when, and how its run is ended, before its lease is over", async () => {
    await populate();
    await begin("exec-1");
    await db.query(
      "UPDATE escapement.drill_run SET started_at = clock_timestamp() - interval '1 min', lease_until = clock_timestamp() + interval '24 s'",
    );
    const status = await withStore("status");
    expect(status.stdout).toMatch(
      /nothing was heard of its controller for \d+s or longer; .*drill abort ends the run .* in \d+s/,
    );
    const { code, stderr } = await withStore("run", "kill-executor", "--yes", "--port", "0");
    expect([code, stderr]).toEqual([
      4,
      expect.stringMatching(/preflight; nothing was heard of its controller for \d+s or longer/),
    ]);
    expect(stderr).toMatch(/drill abort --reason TEXT ends it/);
    expect(stderr).not.toContain("drill halt");
  }, 120_000);

  test("the run of a dead controller: status shows it with what is left, abort ends it and removes that", async () => {
    const runId = await begin("exec-1");
    const job = testJob("probe-1", { schedule: { kind: "every", everyMs: 5_000 } });
    await installProbes(db, [{ ...job, namespace: "drill" }], { person: "ann", reason: "drill" }, 15_000);
    await db.query(
      "UPDATE escapement.drill_run SET lease_until = clock_timestamp() - interval '1 s' WHERE run_id = $1",
      [runId],
    );
    const status = await withStore("status");
    expect(status.stdout).toContain(
      "its controller is silent; the host restores itself. escapement drill abort",
    );
    expect(status.stdout).toContain("1 probe job(s) of it are still there");
    expect(JSON.parse((await withStore("status", "--json")).stdout)).toMatchObject({ probes: 1 });
    const { code, stdout } = await withStore("abort", ...deed);
    expect(code).toBe(3);
    expect(stdout).toMatch(/^ended: unknown: its controller went away; not everything could be looked at/m);
    expect(JSON.parse((await withStore("status", "--json")).stdout)).toMatchObject({
      run: null,
      probes: 0,
      last: { runId, verdict: "unknown" },
    });
  });
});

async function begin(host: string): Promise<string> {
  const runId = "0b9d8a52-6a0f-4e1b-9d5c-1f2e3d4c5b6a";
  const run = {
    ...{ runId, drill: "kill-executor", class: "executor-killed", digest: "d", person: "ann", version: "0" },
    ...{ trigger: "manual" as const, controller: "c", targets: [{ host, node: host, part: "executor" }] },
  };
  await beginDrillRun(db, run, 60_000);
  return runId;
}

test("status shows where a run is; --watch ends with it; history keeps it", async () => {
  const runId = await begin("exec-2");
  const watching = await startEscapement(["drill", "status", "--watch", "--cluster", "cluster.yaml"], {
    workingFolder: folder,
  });
  await watching.seen(/\[preflight\] ─ armed ─ fault ─ restoring ─ settling ─ judging/);
  await db.query("UPDATE escapement.drill_run SET state = 'fault', fault_at = clock_timestamp()");
  await watching.seen(/preflight ─ armed ─ \[fault \d+s\] ─ restoring/);
  await endDrillRun(db, runId, "c", { verdict: "pass", reason: "all well", summary: {} });
  expect((await watching.exited).code).toBe(0);
  expect(watching.stdout()).toMatch(/no drill is on.*last: kill-executor .*: pass, .*all well/);
  const history = await withStore("history", "--json");
  expect(JSON.parse(history.stdout)).toMatchObject({
    classes: expect.arrayContaining([
      { class: "executor-killed", lastRunAt: expect.any(String), lastPassAt: expect.any(String) },
      { class: "network-cut", lastRunAt: null, lastPassAt: null },
    ]),
    runs: [{ runId, verdict: "pass" }],
  });
  // One and the same run: both are its end.
  const { classes } = JSON.parse(history.stdout) as { classes: Record<string, string>[] };
  const killed = classes.find((one) => one.class === "executor-killed")!;
  expect(killed.lastRunAt).toBe(killed.lastPassAt);
  const one = await withStore("history", runId.slice(0, 8));
  expect(one.stdout).toMatch(/^kill-executor {2}pass: all well\nrun +0b9d8a52-/);
  expect((await withStore("history", "ffff")).code).toBe(64);
  expect((await withStore("history", "--class", "network-cut")).stdout).toMatch(/no run$/m);
});

test("a reader that goes away takes neither the verdict nor the end of the run along", async () => {
  await populate();
  const words = ["drill", "run", "kill-executor", "--yes", "--port", "0", "--cluster", "cluster.yaml"];
  const program = fileURLToPath(new URL("../../../bin/escapement.mjs", import.meta.url));
  const line = `"$0" "$@" 2>&1 | head -n 1 >/dev/null; exit "\${PIPESTATUS[0]}"`;
  const code = await new Promise((resolve) => {
    const child = spawn("bash", ["-c", line, process.execPath, program, ...words], { cwd: folder });
    child.on("close", resolve);
  });
  // Its hosts do not answer.
  expect(code).toBe(4);
  expect((await listDrillRuns(db)).map(({ state }) => state)).toEqual(["ended", "ended"]);
}, 120_000);
