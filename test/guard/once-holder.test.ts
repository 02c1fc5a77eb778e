/** `escapement once` when its holder is killed, frozen, cut off or told to stop. */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { monotonicMs } from "../../src/base/monotonic.ts";
import { until } from "../support/until.ts";
import { StatementProxy } from "./faults/statement-proxy.ts";
import { OnceBench } from "./once-bench.ts";
import { startOnce } from "./once-process.ts";

let bench: OnceBench;
beforeAll(async () => {
  bench = await OnceBench.open();
});
afterAll(() => bench.close());

describe("the holder", () => {
  test("killed: its command dies with it; the next exits 5, and runs with --rerun-after-crash", async () => {
    const job = bench.beating("killed");
    const settings = bench.settings("killed", { lease: "2s" });
    const holder = startOnce(settings, job.command);
    await until(() => job.beats().length > 3, { what: "the first beats" });
    holder.child.kill("SIGKILL");
    const diedAt = monotonicMs();
    expect(await holder.exit).toBe("SIGKILL");
    await bench.leaseOver("killed");
    // Stopped long before the lease ended.
    expect(Math.max(...job.beats())).toBeLessThan(diedAt + 1_500);
    expect(job.lines()).toContain("term");
    const next = await bench.run(settings, ["true"]);
    expect(next.exit).toBe(5);
    expect(next.stderr).toMatch(/killed\/2026-07 was cut short/);
    expect((await bench.run({ ...settings, more: ["--rerun-after-crash"] }, ["true"])).exit).toBe(0);
    expect(await bench.stateOf("killed")).toMatchObject({ state: "done", attempt: 2 });
  });

  test("killed while another waits: the waiting one exits 5, or takes over with --rerun-after-crash", async () => {
    for (const [name, more, exit] of [
      ["standby", [], 5],
      ["standby-reruns", ["--rerun-after-crash"], 0],
    ] as const) {
      const job = bench.beating(name);
      const holder = startOnce(bench.settings(name, { lease: "2s" }), job.command);
      await until(() => job.beats().length > 0, { what: "the first beat" });
      const standby = startOnce(bench.settings(name, { lease: "2s", blocking: "wait", more }), ["true"]);
      await new Promise((resolve) => setTimeout(resolve, 300));
      holder.child.kill("SIGKILL");
      expect(await standby.exit).toBe(exit);
    }
  });

  test("frozen past its lease: the command is killed in time, the next runs alone, the frozen one says it lost", async () => {
    const job = bench.beating("frozen");
    const settings = bench.settings("frozen", { lease: "2s", more: ["--rerun-after-crash"] });
    const holder = startOnce(settings, job.command);
    await until(() => job.beats().length > 3, { what: "the first beats" });
    holder.child.kill("SIGSTOP");
    await bench.leaseOver("frozen");
    const overAt = monotonicMs();
    const second = bench.marking("frozen-second");
    expect((await bench.run(settings, second.command)).exit).toBe(0);
    holder.child.kill("SIGCONT");
    expect(await holder.exit).toBe(5);
    expect(holder.output.stderr).toMatch(/cut short/);
    expect(Math.max(...job.beats())).toBeLessThan(overAt);
    expect(second.times()).toBe(1);
    expect(await bench.stateOf("frozen")).toMatchObject({ state: "done", attempt: 2 });
  });

  test("cut off from the database: the command is killed before the lease ends, exit 5, never a second run in silence", async () => {
    const proxy = new StatementProxy(new URL(bench.db.url));
    const url = await proxy.listen(new URL(bench.db.url));
    const job = bench.beating("cut");
    const holder = startOnce(bench.settings("cut", { url, lease: "2s" }), job.command);
    await until(() => job.beats().length > 3, { what: "the first beats" });
    proxy.refuses = true;
    proxy.cut();
    await bench.leaseOver("cut");
    const overAt = monotonicMs();
    expect(await holder.exit).toBe(5);
    expect(holder.output.stderr).toMatch(/cut\/2026-07 was cut short: it (was|could) not/);
    expect(Math.max(...job.beats())).toBeLessThan(overAt);
    const next = await bench.run(bench.settings("cut", { lease: "2s" }), ["true"]);
    expect(next.exit).toBe(5);
    await proxy.close();
  });

  test("cut off for less than the lease: nothing happens", async () => {
    const proxy = new StatementProxy(new URL(bench.db.url));
    const url = await proxy.listen(new URL(bench.db.url));
    const holder = startOnce(bench.settings("short-cut", { url, lease: "3s" }), ["sleep", "2"]);
    await bench.begun("short-cut");
    proxy.refuses = true;
    proxy.cut();
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    proxy.refuses = false;
    expect(await holder.exit).toBe(0);
    expect(await bench.stateOf("short-cut")).toMatchObject({ state: "done" });
    await proxy.close();
  });

  test("its lease taken away by hand: the command is killed at the next renewal", async () => {
    const job = bench.beating("taken");
    const holder = startOnce(bench.settings("taken", { lease: "2s" }), job.command);
    await until(() => job.beats().length > 0, { what: "the first beat" });
    await bench.db.pool.query("UPDATE escapement_guard.once_run SET token = 999999 WHERE job = 'taken'");
    expect(await holder.exit).toBe(5);
    expect(job.lines()).toContain("term");
  });

  test("the watching process killed: the command is killed, too, and the run is in doubt", async () => {
    const job = bench.beating("watch");
    const holder = startOnce(bench.settings("watch"), job.command);
    await until(() => job.beats().length > 0, { what: "the first beat" });
    const children = readFileSync(`/proc/${holder.child.pid}/task/${holder.child.pid}/children`, "utf8")
      .trim()
      .split(" ");
    process.kill(Number(children[0]), "SIGKILL");
    expect(await holder.exit).toBe(5);
    expect(await bench.stateOf("watch")).toMatchObject({ state: "interrupted" });
    const count = job.lines().length;
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(job.lines()).toHaveLength(count);
  });
});

describe("signals", () => {
  test("SIGTERM reaches the command; the run is interrupted and 130 returned; the next exits 5", async () => {
    const job = bench.beating("term");
    const holder = startOnce(bench.settings("term"), job.command);
    await until(() => job.beats().length > 0, { what: "the first beat" });
    holder.child.kill("SIGTERM");
    expect(await holder.exit).toBe(130);
    expect(job.lines()).toContain("term");
    expect(await bench.stateOf("term")).toMatchObject({ state: "interrupted", exit_code: 9 });
    expect((await bench.run(bench.settings("term"), ["true"])).exit).toBe(5);
  });

  test("a command that ignores it is killed after --grace, and the lease is kept until then", async () => {
    const holder = startOnce(bench.settings("stubborn", { lease: "2s", more: ["--grace", "4s"] }), [
      "sh",
      "-c",
      "trap '' TERM; while :; do sleep 0.1; done",
    ]);
    await bench.begun("stubborn");
    await new Promise((resolve) => setTimeout(resolve, 300));
    holder.child.kill("SIGTERM");
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    expect(await bench.stateOf("stubborn")).toMatchObject({ state: "running", live: true });
    expect(await holder.exit).toBe(130);
    expect(await bench.stateOf("stubborn")).toMatchObject({ state: "interrupted", exit_code: 137 });
  });
});
