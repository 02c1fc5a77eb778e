/**
 * `escapement once` on three hosts. Three processes on one machine stand for the hosts: they share
 * nothing but the database, which is all that three hosts share.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { monotonicMs } from "../../src/base/monotonic.ts";
import { until } from "../support/until.ts";
import { StatementProxy } from "./faults/statement-proxy.ts";
import { type GuardDatabase, guardDatabase } from "./guard-database.ts";
import { type OnceSettings, startOnce } from "./once-process.ts";

let db: GuardDatabase;
let folder: string;
beforeAll(async () => {
  db = await guardDatabase();
  folder = mkdtempSync(join(tmpdir(), "escapement-once-"));
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await db.close();
});

/** A job that writes a line with its name when it starts, then one with the monotonic clock every 20 ms, until it is stopped. */
function beating(name: string): { command: string[]; lines(): string[]; beats(): number[] } {
  const file = join(folder, name);
  writeFileSync(file, "");
  const program =
    `const fs = require("node:fs"); const write = (x) => fs.appendFileSync(${JSON.stringify(file)}, x + "\\n"); write("start " + process.pid);` +
    `setInterval(() => write(Number(process.hrtime.bigint()) / 1e6), 20); process.on("SIGTERM", () => { write("term"); process.exit(9); });`;
  const lines = () => readFileSync(file, "utf8").split("\n").filter(Boolean);
  const beats = () =>
    lines()
      .map(Number)
      .filter((beat) => !Number.isNaN(beat));
  return { command: [process.execPath, "-e", program], lines, beats };
}

/** A job that ends at once and leaves one line. */
function marking(name: string, exitCode = 0): { command: string[]; times(): number } {
  const file = join(folder, name);
  writeFileSync(file, "");
  return {
    command: ["sh", "-c", `echo ran >> '${file}'; exit ${exitCode}`],
    times: () => readFileSync(file, "utf8").split("\n").filter(Boolean).length,
  };
}

const on = (job: string, more: Partial<OnceSettings> = {}): OnceSettings => ({ url: db.url, job, ...more });

async function run(settings: OnceSettings, command: readonly string[]) {
  const one = startOnce(settings, command);
  const exit = await one.exit;
  return { exit, ...one.output };
}

async function stateOf(job: string) {
  const { rows } = await db.pool.query(
    "SELECT state, attempt, exit_code, lease_until > clock_timestamp() AS live FROM escapement_guard.once_run WHERE job = $1 ORDER BY started_at DESC LIMIT 1",
    [job],
  );
  return rows[0];
}

const leaseOver = (job: string) =>
  until(async () => !(await stateOf(job)).live, { what: "the lease to end" });

describe("three hosts at the same minute", () => {
  test.each(["skip", "wait", "fail"])("--blocking %s: one runs, two exit 0", async (blocking) => {
    const job = marking(`three-${blocking}`);
    const command = ["sh", "-c", `${job.command[2]!.replace("; exit 0", "")}; sleep 0.3`];
    const settings = on(`three-${blocking}`, { slot: ["--fire-time", "2026-07-01T02:00:00Z"], blocking });
    const exits = await Promise.all([1, 2, 3].map(() => startOnce(settings, command).exit));
    expect(exits).toEqual([0, 0, 0]);
    expect(job.times()).toBe(1);
    expect(await stateOf(`three-${blocking}`)).toMatchObject({ state: "done", attempt: 1, exit_code: 0 });
  });

  test("a fourth that comes late finds it done and says so; --quiet says nothing", async () => {
    const late = await run(on("three-skip", { slot: ["--fire-time", "2026-07-01T02:00:00.000Z"] }), [
      "false",
    ]);
    expect(late).toMatchObject({ exit: 0, stdout: "" });
    expect(late.stderr).toMatch(/three-skip\/2026-07-01T02:00:00.000Z is done since/);
    const quiet = await run(
      on("three-skip", { slot: ["--fire-time", "2026-07-01T04:00:00+02:00"], more: ["--quiet"] }),
      ["false"],
    );
    expect(quiet).toEqual({ exit: 0, stdout: "", stderr: "" });
  });
});

describe("the command", () => {
  test("its output is untouched, and it learns who it is", async () => {
    const script =
      "echo out $ESCAPEMENT_JOB $ESCAPEMENT_PERIOD $ESCAPEMENT_ATTEMPT $ESCAPEMENT_SHARD_NO/$ESCAPEMENT_SHARD_COUNT $ESCAPEMENT_IDEMPOTENCY_KEY $1; echo err >&2";
    const one = await run(on("env", { env: { ESCAPEMENT_FIRE_TIME: "leftover" } }), [
      "sh",
      "-c",
      script,
      "sh",
      "--json",
    ]);
    expect(one).toEqual({ exit: 0, stdout: "out env 2026-07 1 0/1 env/2026-07 --json\n", stderr: "err\n" });
  });

  test("its failure is exit 1, with its code; it is not repeated until asked for", async () => {
    const job = marking("fails", 7);
    const first = await run(on("fails"), job.command);
    expect(first.exit).toBe(1);
    expect(first.stderr).toMatch(/fails\/2026-07: the command ended with 7/);
    const second = await run(on("fails"), job.command);
    expect(second.exit).toBe(1);
    expect(second.stderr).toMatch(/failed on .*ended with 7.*--rerun-after-failure/);
    expect(job.times()).toBe(1);
    expect((await run(on("fails", { more: ["--rerun-after-failure"] }), ["true"])).exit).toBe(0);
    expect(await stateOf("fails")).toMatchObject({ state: "done", attempt: 2 });
  });

  test("not found: 69, and a host that has it still runs it", async () => {
    const missing = await run(on("missing"), ["no-such-program"]);
    expect(missing.exit).toBe(69);
    expect(missing.stderr).toMatch(/no-such-program is not installed/);
    expect((await run(on("missing"), ["true"])).exit).toBe(0);
  });

  test("found but not startable: 69, and the run is given back", async () => {
    const file = join(folder, "broken-interpreter");
    writeFileSync(file, "#!/no/such/interpreter\n", { mode: 0o755 });
    expect((await run(on("broken"), [file])).exit).toBe(69);
    expect(await stateOf("broken")).toMatchObject({ state: "ready" });
    expect((await run(on("broken"), ["true"])).exit).toBe(0);
  });

  test("a lease shorter than the run is renewed", async () => {
    const settings = on("long", { lease: "1s" });
    const long = startOnce(settings, ["sleep", "2.5"]);
    await until(async () => (await stateOf("long"))?.live, { what: "the run to begin" });
    const thief = marking("thief");
    let isOver = false;
    void long.exit.then(() => (isOver = true));
    while (!isOver) {
      const other = await run({ ...settings, more: ["--rerun-after-crash"] }, thief.command);
      expect(other.exit).toBe(0);
    }
    expect(await long.exit).toBe(0);
    expect(thief.times()).toBe(0);
  });

  test("processes that it leaves behind are killed, and it is told", async () => {
    const job = beating("left");
    const one = await run(on("left"), ["sh", "-c", `'${job.command[0]}' -e '${job.command[2]}' & sleep 0.4`]);
    expect(one.exit).toBe(0);
    expect(one.stderr).toMatch(/left processes behind/);
    const count = job.lines().length;
    expect(count).toBeGreaterThan(0);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(job.lines()).toHaveLength(count);
  });
});

describe("the holder", () => {
  test("killed: its command dies with it; the next exits 5, and runs with --rerun-after-crash", async () => {
    const job = beating("killed");
    const settings = on("killed", { lease: "2s" });
    const holder = startOnce(settings, job.command);
    await until(() => job.beats().length > 3, { what: "the first beats" });
    holder.child.kill("SIGKILL");
    const diedAt = monotonicMs();
    expect(await holder.exit).toBe("SIGKILL");
    await leaseOver("killed");
    // Stopped long before the lease ended.
    expect(Math.max(...job.beats())).toBeLessThan(diedAt + 1_500);
    expect(job.lines()).toContain("term");
    const next = await run(settings, ["true"]);
    expect(next.exit).toBe(5);
    expect(next.stderr).toMatch(/killed\/2026-07 was cut short/);
    expect((await run({ ...settings, more: ["--rerun-after-crash"] }, ["true"])).exit).toBe(0);
    expect(await stateOf("killed")).toMatchObject({ state: "done", attempt: 2 });
  });

  test("killed while another waits: the waiting one exits 5, or takes over with --rerun-after-crash", async () => {
    for (const [name, more, exit] of [
      ["standby", [], 5],
      ["standby-reruns", ["--rerun-after-crash"], 0],
    ] as const) {
      const job = beating(name);
      const holder = startOnce(on(name, { lease: "1s500ms" }), job.command);
      await until(() => job.beats().length > 0, { what: "the first beat" });
      const standby = startOnce(on(name, { lease: "1s500ms", blocking: "wait", more }), ["true"]);
      await new Promise((resolve) => setTimeout(resolve, 300));
      holder.child.kill("SIGKILL");
      expect(await standby.exit).toBe(exit);
    }
  });

  test("frozen past its lease: the command is killed in time, the next runs alone, the frozen one says it lost", async () => {
    const job = beating("frozen");
    const settings = on("frozen", { lease: "1s500ms", more: ["--rerun-after-crash"] });
    const holder = startOnce(settings, job.command);
    await until(() => job.beats().length > 3, { what: "the first beats" });
    holder.child.kill("SIGSTOP");
    await leaseOver("frozen");
    const overAt = monotonicMs();
    const second = marking("frozen-second");
    expect((await run(settings, second.command)).exit).toBe(0);
    holder.child.kill("SIGCONT");
    expect(await holder.exit).toBe(5);
    expect(holder.output.stderr).toMatch(/cut short/);
    expect(Math.max(...job.beats())).toBeLessThan(overAt);
    expect(second.times()).toBe(1);
    expect(await stateOf("frozen")).toMatchObject({ state: "done", attempt: 2 });
  });

  test("cut off from the database: the command is killed before the lease ends, exit 5, never a second run in silence", async () => {
    const proxy = new StatementProxy(new URL(db.url));
    const url = await proxy.listen(new URL(db.url));
    const job = beating("cut");
    const holder = startOnce(on("cut", { url, lease: "2s" }), job.command);
    await until(() => job.beats().length > 3, { what: "the first beats" });
    proxy.refuses = true;
    proxy.cut();
    await leaseOver("cut");
    const overAt = monotonicMs();
    expect(await holder.exit).toBe(5);
    expect(holder.output.stderr).toMatch(/cut\/2026-07 was cut short: it (was|could) not/);
    expect(Math.max(...job.beats())).toBeLessThan(overAt);
    const next = await run(on("cut", { lease: "2s" }), ["true"]);
    expect(next.exit).toBe(5);
    await proxy.close();
  });

  test("cut off for less than the lease: nothing happens", async () => {
    const proxy = new StatementProxy(new URL(db.url));
    const url = await proxy.listen(new URL(db.url));
    const holder = startOnce(on("short-cut", { url, lease: "3s" }), ["sleep", "2"]);
    await until(async () => (await stateOf("short-cut"))?.live, { what: "the run to begin" });
    proxy.refuses = true;
    proxy.cut();
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    proxy.refuses = false;
    expect(await holder.exit).toBe(0);
    expect(await stateOf("short-cut")).toMatchObject({ state: "done" });
    await proxy.close();
  });

  test("its lease taken away by hand: the command is killed at the next renewal", async () => {
    const job = beating("taken");
    const holder = startOnce(on("taken", { lease: "1s500ms" }), job.command);
    await until(() => job.beats().length > 0, { what: "the first beat" });
    await db.pool.query("UPDATE escapement_guard.once_run SET token = 999999 WHERE job = 'taken'");
    expect(await holder.exit).toBe(5);
    expect(job.lines()).toContain("term");
  });

  test("the watching process killed: the command is killed, too, and the run is in doubt", async () => {
    const job = beating("watch");
    const holder = startOnce(on("watch"), job.command);
    await until(() => job.beats().length > 0, { what: "the first beat" });
    const children = readFileSync(`/proc/${holder.child.pid}/task/${holder.child.pid}/children`, "utf8")
      .trim()
      .split(" ");
    process.kill(Number(children[0]), "SIGKILL");
    expect(await holder.exit).toBe(5);
    expect(await stateOf("watch")).toMatchObject({ state: "interrupted" });
    const count = job.lines().length;
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(job.lines()).toHaveLength(count);
  });
});

describe("signals", () => {
  test("SIGTERM reaches the command; the run is interrupted and 130 returned; the next exits 5", async () => {
    const job = beating("term");
    const holder = startOnce(on("term"), job.command);
    await until(() => job.beats().length > 0, { what: "the first beat" });
    holder.child.kill("SIGTERM");
    expect(await holder.exit).toBe(130);
    expect(job.lines()).toContain("term");
    expect(await stateOf("term")).toMatchObject({ state: "interrupted", exit_code: 9 });
    expect((await run(on("term"), ["true"])).exit).toBe(5);
  });

  test("a command that ignores it is killed after --grace, and the lease is kept until then", async () => {
    const holder = startOnce(on("stubborn", { lease: "1s", more: ["--grace", "2s"] }), [
      "sh",
      "-c",
      "trap '' TERM; while :; do sleep 0.1; done",
    ]);
    await until(async () => (await stateOf("stubborn"))?.live, { what: "the run to begin" });
    await new Promise((resolve) => setTimeout(resolve, 300));
    holder.child.kill("SIGTERM");
    await new Promise((resolve) => setTimeout(resolve, 1_300));
    expect(await stateOf("stubborn")).toMatchObject({ state: "running", live: true });
    expect(await holder.exit).toBe(130);
    expect(await stateOf("stubborn")).toMatchObject({ state: "interrupted", exit_code: 137 });
  });
});

describe("an earlier run still runs", () => {
  test("skip exits 0, fail exits 4, wait runs after it; all three say why", async () => {
    const settings = on("overlap", { lease: "5s" });
    const slot = (day: string) => ["--fire-time", `2026-07-${day}T02:00:00Z`];
    const first = startOnce({ ...settings, slot: slot("01") }, ["sleep", "1.5"]);
    await until(async () => (await stateOf("overlap"))?.live, { what: "the run to begin" });
    const other = marking("overlap");
    const [skip, fail, wait] = await Promise.all([
      run({ ...settings, slot: slot("02"), blocking: "skip" }, other.command),
      run({ ...settings, slot: slot("03"), blocking: "fail" }, other.command),
      run({ ...settings, slot: slot("04"), blocking: "wait" }, other.command),
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
    const job = marking("down");
    const one = await run(on("down", { url: "postgres://nobody@127.0.0.1:1/none" }), job.command);
    expect(one.exit).toBe(69);
    expect(one.stderr).toMatch(/does not answer, so nothing was run/);
    expect(job.times()).toBe(0);
  });

  test("the guard is not installed: 69, with the command that installs it", async () => {
    const url = new URL(db.url);
    url.pathname = "/postgres";
    const one = await run(on("none", { url: url.href }), ["true"]);
    expect(one).toMatchObject({ exit: 69, stderr: expect.stringContaining("escapement guard install") });
  });

  test("the host's clock is an hour wrong: shown, and it changes nothing", async () => {
    const shift = "--import=data:text/javascript,const{now}=Date;Date.now=()=>now()-3600000";
    const job = marking("skewed");
    const settings = on("skewed", { slot: ["--fire-time", "2026-07-01T02:00:00Z"] });
    const exits = await Promise.all([
      run({ ...settings, env: { NODE_OPTIONS: shift } }, job.command),
      run(settings, job.command),
      run({ ...settings, env: { NODE_OPTIONS: shift.replace("-3600000", "+3600000") } }, job.command),
    ]);
    expect(exits.map((one) => one.exit)).toEqual([0, 0, 0]);
    expect(exits[0]!.stderr).toMatch(/clock is (1h|59m\d+s) behind the database's/);
    expect(exits[2]!.stderr).toMatch(/clock is (1h|1h\d+s|59m\d+s) ahead of the database's/);
    expect(job.times()).toBe(1);
  });

  test("a fire time that lies ahead of the database clock: 4", async () => {
    const job = marking("ahead");
    const ahead = new Date(Date.now() + 3_600_000).toISOString();
    const one = await run(on("ahead", { slot: ["--fire-time", ahead] }), job.command);
    expect(one.exit).toBe(4);
    expect(one.stderr).toMatch(/lies ahead: the database clock says/);
    expect(job.times()).toBe(0);
  });

  test.each([
    ["no slot", []],
    ["two slots", ["--period", "2026-07", "--fire-time", "2026-07-01T00:00:00Z"]],
    ["a fire time without a zone", ["--fire-time", "2026-07-01T00:00:00"]],
  ])("%s: 64", async (_, slot) => {
    expect((await run(on("usage", { slot }), ["true"])).exit).toBe(64);
  });

  test("a period without a date, a lease that is too short: 65; a lease without a unit: 64", async () => {
    expect((await run(on("usage", { slot: ["--period", "july"] }), ["true"])).exit).toBe(65);
    expect((await run(on("usage", { lease: "200ms" }), ["true"])).exit).toBe(65);
    expect((await run(on("usage", { lease: "20" }), ["true"])).exit).toBe(64);
  });
});
