/**
 * `escapement once` on three hosts. Three processes on one machine stand for the hosts: they share
 * nothing but the database, which is all that three hosts share.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { OnceBench } from "./once-bench.ts";
import { startOnce } from "./once-process.ts";

let bench: OnceBench;
beforeAll(async () => {
  bench = await OnceBench.open();
});
afterAll(() => bench.close());

describe("three hosts at the same minute", () => {
  test.each(["skip", "wait", "fail"])("--blocking %s: one runs, two exit 0", async (blocking) => {
    const job = bench.marking(`three-${blocking}`, "sleep 0.3");
    const settings = bench.settings(`three-${blocking}`, {
      slot: ["--fire-time", "2026-07-01T02:00:00Z"],
      blocking,
    });
    const exits = await Promise.all([1, 2, 3].map(() => startOnce(settings, job.command).exit));
    expect(exits).toEqual([0, 0, 0]);
    expect(job.times()).toBe(1);
    expect(await bench.stateOf(`three-${blocking}`)).toMatchObject({
      state: "done",
      attempt: 1,
      exit_code: 0,
    });
  });

  test("a fourth that comes late finds it done and says so; --quiet says nothing", async () => {
    const late = await bench.run(
      bench.settings("three-skip", { slot: ["--fire-time", "2026-07-01T02:00:00.000Z"] }),
      ["false"],
    );
    expect(late).toMatchObject({ exit: 0, stdout: "" });
    expect(late.stderr).toMatch(/three-skip\/2026-07-01T02:00:00.000Z is done since/);
    const quiet = await bench.run(
      bench.settings("three-skip", { slot: ["--fire-time", "2026-07-01T04:00:00+02:00"], more: ["--quiet"] }),
      ["false"],
    );
    expect(quiet).toEqual({ exit: 0, stdout: "", stderr: "" });
  });
});

describe("an earlier run still runs", () => {
  test("skip exits 0, fail exits 4, wait runs after it; all three say why", async () => {
    const settings = bench.settings("overlap", { lease: "5s" });
    const slot = (day: string) => ["--fire-time", `2026-07-${day}T02:00:00Z`];
    const first = startOnce({ ...settings, slot: slot("01") }, ["sleep", "1.5"]);
    await bench.begun("overlap");
    const other = bench.marking("overlap");
    const [skip, fail, wait] = await Promise.all([
      bench.run({ ...settings, slot: slot("02"), blocking: "skip" }, other.command),
      bench.run({ ...settings, slot: slot("03"), blocking: "fail" }, other.command),
      bench.run({ ...settings, slot: slot("04"), blocking: "wait" }, other.command),
    ]);
    expect([skip.exit, fail.exit, wait.exit]).toEqual([0, 4, 0]);
    expect(skip.stderr).toMatch(/2026-07-02.* is skipped: the run of 2026-07-01.* was still running/);
    expect(fail.stderr).toMatch(/refused: overlap\/2026-07-03.*was still running/);
    expect(await first.exit).toBe(0);
    expect(other.times()).toBe(1);
  });
});

describe("clear errors, and nothing is run", () => {
  test("database down: 69", async () => {
    const job = bench.marking("down");
    const one = await bench.run(
      bench.settings("down", { url: "postgres://nobody@127.0.0.1:1/none" }),
      job.command,
    );
    expect(one.exit).toBe(69);
    expect(one.stderr).toMatch(/does not answer, so nothing was run/);
    expect(job.times()).toBe(0);
  });

  test("the guard is not installed: 69, with the command that installs it", async () => {
    const url = new URL(bench.db.url);
    url.pathname = "/postgres";
    const one = await bench.run(bench.settings("none", { url: url.href }), ["true"]);
    expect(one).toMatchObject({ exit: 69, stderr: expect.stringContaining("escapement guard install") });
  });

  test("the host's clock is an hour wrong: shown, and it changes nothing", async () => {
    const shift = "--import=data:text/javascript,const{now}=Date;Date.now=()=>now()-3600000";
    const job = bench.marking("skewed");
    const settings = bench.settings("skewed", { slot: ["--fire-time", "2026-07-01T02:00:00Z"] });
    const exits = await Promise.all([
      bench.run({ ...settings, env: { NODE_OPTIONS: shift } }, job.command),
      bench.run(settings, job.command),
      bench.run({ ...settings, env: { NODE_OPTIONS: shift.replace("-3600000", "+3600000") } }, job.command),
    ]);
    expect(exits.map((one) => one.exit)).toEqual([0, 0, 0]);
    expect(exits[0]!.stderr).toMatch(/clock is (1h|59m\d+s) behind the database's/);
    expect(exits[2]!.stderr).toMatch(/clock is (1h|1h\d+s|59m\d+s) ahead of the database's/);
    expect(job.times()).toBe(1);
  });

  test("a fire time that lies ahead of the database clock: 4", async () => {
    const job = bench.marking("ahead");
    const ahead = new Date(Date.now() + 3_600_000).toISOString();
    const one = await bench.run(bench.settings("ahead", { slot: ["--fire-time", ahead] }), job.command);
    expect(one.exit).toBe(4);
    expect(one.stderr).toMatch(/lies ahead: the database clock says/);
    expect(job.times()).toBe(0);
  });

  test.each([
    ["no slot", []],
    ["two slots", ["--period", "2026-07", "--fire-time", "2026-07-01T00:00:00Z"]],
    ["a fire time without a zone", ["--fire-time", "2026-07-01T00:00:00"]],
  ])("%s: 64", async (_, slot) => {
    expect((await bench.run(bench.settings("usage", { slot }), ["true"])).exit).toBe(64);
  });

  test("a period without a date, a lease that is too short: 65; a lease without a unit: 64", async () => {
    expect((await bench.run(bench.settings("usage", { slot: ["--period", "july"] }), ["true"])).exit).toBe(
      65,
    );
    expect((await bench.run(bench.settings("usage", { lease: "200ms" }), ["true"])).exit).toBe(65);
    expect((await bench.run(bench.settings("usage", { lease: "20" }), ["true"])).exit).toBe(64);
  });
});
