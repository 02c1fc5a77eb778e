/** `escapement once` where somebody does something odd: names, limits, closed pipes, roles, settings of the database. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { until } from "../support/until.ts";
import { OnceBench } from "./once-bench.ts";

let bench: OnceBench;
beforeAll(async () => {
  bench = await OnceBench.open();
});
afterAll(() => bench.close());

describe("nobody reads what it says", () => {
  test("the command runs to its end, and the exit code is its own", async () => {
    const job = bench.marking("unread", "sleep 0.5; exit 3");
    const args = ["--job", "unread", "--period", "2026-07", "--lease", "20s", "--blocking", "skip", "--"];
    const child = spawn(process.execPath, ["bin/escapement.mjs", "once", ...args, ...job.command], {
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        ...process.env,
        ESCAPEMENT_GUARD_URL: bench.db.url,
        // A clock that is off gives it something to say before the command starts.
        NODE_OPTIONS: "--import=data:text/javascript,const{now}=Date;Date.now=()=>now()-3600000",
      },
    });
    child.stdout.destroy();
    child.stderr.destroy();
    const exit = await new Promise((resolve) => child.on("exit", (code, signal) => resolve(code ?? signal)));
    expect(exit).toBe(1);
    expect(await bench.stateOf("unread")).toMatchObject({ state: "failed", exit_code: 3 });
  });
});

describe("names and limits", () => {
  test.each([
    ["a job without a name", "", "2026-07"],
    ["a job with a line break", "pay\nroll", "2026-07"],
    ["a period with a blank at its end", "pay", "2026-07 "],
    ["a period with a line break", "pay", "2026-07\r"],
    ["a job with a very long name", "x".repeat(501), "2026-07"],
    ["a period that is very long", "pay", `2026-07/${"ü".repeat(300)}`],
  ])("%s: 65, and nothing is run", async (_, job, period) => {
    const marking = bench.marking("named");
    const one = await bench.run(bench.settings(job, { slot: ["--period", period] }), marking.command);
    expect(one).toMatchObject({ exit: 65, stderr: expect.stringMatching(/^error E_BAD_DATA/) });
    expect(marking.times()).toBe(0);
  });

  test("quotes, blanks and other scripts are names like any other", async () => {
    const job = `o'brien "x" 结算 😀 $(id); drop`;
    const one = await bench.run(bench.settings(job), ["sh", "-c", 'printf %s "$ESCAPEMENT_JOB"']);
    expect(one).toMatchObject({ exit: 0, stdout: job });
  });

  test("a lease that nobody would live to see end: 65", async () => {
    const one = await bench.run(bench.settings("forever", { lease: "9999d" }), ["true"]);
    expect(one).toMatchObject({ exit: 65, stderr: expect.stringMatching(/lease of 9999d.*at most 1d/s) });
  });

  test("a grace that is longer than a timer can count leaves the command its time", async () => {
    const settings = bench.settings("graceful", { more: ["--grace", "9999d"] });
    const program = "trap 'sleep 0.5; exit 7' TERM; touch \"$0\"; while :; do sleep 0.05; done";
    const file = join(bench.folder, "graceful-started");
    const { startOnce } = await import("./once-process.ts");
    const one = startOnce(settings, ["sh", "-c", program, file]);
    await until(() => existsSync(file), { what: "the command to start" });
    one.child.kill("SIGTERM");
    expect(await one.exit).toBe(130);
    expect(await bench.stateOf("graceful")).toMatchObject({ state: "interrupted", exit_code: 7 });
    expect(one.output.stderr).not.toMatch(/TimeoutOverflowWarning/);
  });
});

test("a daemon that goes its own way with setsid is left alone", async () => {
  const file = join(bench.folder, "daemon");
  // The command ends before its daemon has had time to leave the group.
  const program = `(sleep 0.05; exec setsid sh -c 'sleep 0.5; touch "$0"' "$0") > /dev/null 2>&1 & exit 0`;
  const one = await bench.run(bench.settings("daemon"), ["sh", "-c", program, file]);
  expect(one).toMatchObject({ exit: 0, stderr: "" });
  await until(() => existsSync(file), { what: "the daemon's sign of life" });
});

describe("the database says no", () => {
  const asRole = async (name: string, setting: string) => {
    const role = `once_${name}_${process.pid}`;
    await bench.db.pool.query(`CREATE ROLE ${role} LOGIN ${setting === "" ? "" : "SUPERUSER"}`);
    if (setting !== "") await bench.db.pool.query(`ALTER ROLE ${role} SET ${setting}`);
    const url = new URL(bench.db.url);
    url.username = role;
    return { url: url.href, drop: () => bench.db.pool.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`) };
  };

  test("a role without rights: 4, and how to get them", async () => {
    const role = await asRole("poor", "");
    const job = bench.marking("poor");
    const one = await bench.run(bench.settings("poor", { url: role.url }), job.command);
    expect(one).toMatchObject({ exit: 4, stderr: expect.stringMatching(/permission denied.*--grant-to/s) });
    expect(job.times()).toBe(0);
    await role.drop();
  });

  test("a server that only reads: 69", async () => {
    const role = await asRole("standby", "default_transaction_read_only = on");
    const job = bench.marking("standby");
    const one = await bench.run(bench.settings("standby", { url: role.url }), job.command);
    expect(one).toMatchObject({ exit: 69, stderr: expect.stringMatching(/read-only.*primary/s) });
    expect(job.times()).toBe(0);
    await role.drop();
  });

  test.each(["repeatable read", "serializable"])(
    "a role whose transactions are %s: 4, because an earlier run could be overlooked",
    async (level) => {
      const role = await asRole("strict", `default_transaction_isolation = '${level}'`);
      const job = bench.marking("strict");
      const one = await bench.run(bench.settings("strict", { url: role.url }), job.command);
      expect(one).toMatchObject({ exit: 4, stderr: expect.stringContaining("read committed") });
      expect(job.times()).toBe(0);
      await role.drop();
    },
  );
});
