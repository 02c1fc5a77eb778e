/** `escapement once` in the cron line of three real hosts, with the database on the other side of a real network. */
import { spawn } from "node:child_process";
import { connect, createServer, type Server } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type GuardDatabase, guardDatabase } from "../../guard/guard-database.ts";
import { hostLab, noHosts } from "../../support/host-lab.ts";
import { until } from "../../support/until.ts";

const names = ["exec-1", "exec-2", "exec-3"] as const;
type Host = (typeof names)[number];
const databasePort = 55_432;

describe.skipIf(noHosts)("three hosts, one cron line", () => {
  const lab = hostLab({ hosts: names });
  let db: GuardDatabase;
  let way: Server;

  beforeAll(async () => {
    if (noHosts) return;
    db = await guardDatabase();
    way = await listen(lab().state.controllerAddress, Number(new URL(db.url).port));
    await Promise.all(names.map(installProgram));
  });
  afterAll(async () => {
    way?.close();
    await db?.close();
  });

  test("a timer fires on all three at the same minute: one runs it, the others exit 0", async () => {
    for (const host of names) {
      await write(host, "/opt/pay", '#!/bin/sh\necho "$ESCAPEMENT_FIRE_TIME" >> /opt/paid\nsleep 3\n');
      const line = `exec /opt/once timer --fire-time "$(date -u +%%Y-%%m-%%dT%%H:%%M:00Z)" --blocking skip -- /opt/pay`;
      await write(
        host,
        "/etc/systemd/system/pay.service",
        `[Service]\nType=oneshot\nExecStart=/bin/sh -c '${line}'\n`,
      );
      await write(
        host,
        "/etc/systemd/system/pay.timer",
        "[Timer]\nOnCalendar=*-*-* *:*:00\nAccuracySec=1us\n",
      );
    }
    await Promise.all(names.map((host) => shell(host, "systemctl daemon-reload; systemctl start pay.timer")));
    const ended = async (host: Host) => {
      const text = await shell(host, "systemctl show pay.service -p ExecMainExitTimestamp -p ExecMainStatus");
      return {
        isOver: /ExecMainExitTimestamp=.+/.test(text),
        status: /ExecMainStatus=(\d+)/.exec(text)?.[1],
      };
    };
    await until(async () => (await Promise.all(names.map(ended))).every((one) => one.isOver), {
      what: "the timers to fire and the services to end",
      everyMs: 1_000,
      deadlineMs: 150_000,
    });
    await Promise.all(names.map((host) => shell(host, "systemctl stop pay.timer")));
    const fired = (await Promise.all(names.map((host) => shell(host, "cat /opt/paid || :"))))
      .join("\n")
      .split("\n")
      .filter(Boolean);
    // A slow machine may have seen a second minute: each minute counts once.
    expect(fired.length).toBeGreaterThan(0);
    expect(new Set(fired).size).toBe(fired.length);
    expect((await Promise.all(names.map(ended))).map((one) => one.status)).toEqual(["0", "0", "0"]);
    const runs = await db.pool.query<{ slot: string; state: string; host: string }>(
      "SELECT slot, state, host FROM escapement_guard.once_run WHERE job = 'timer' ORDER BY slot",
    );
    expect(runs.rows.map((row) => row.state)).toEqual(fired.map(() => "done"));
    expect(runs.rows.map((row) => row.slot)).toEqual(fired.toSorted());
    expect(names).toContain(runs.rows[0]?.host);
  });

  test("the holder's plug is pulled: the others exit 5 once its lease has ended, and one runs it when told to", async () => {
    const holder = beat("exec-1", "power");
    await begun("power");
    expect(await once("exec-2", "power", "echo second")).toMatchObject({ code: 0, stdout: "" });
    await lab().powerOff("exec-1");
    await holder;
    await leaseOver("power");
    for (const host of ["exec-2", "exec-3"] as const) {
      const one = await once(host, "power", "echo second");
      expect(one).toMatchObject({ code: 5, stdout: "", stderr: expect.stringContaining("was cut short") });
    }
    expect(await once("exec-3", "power", "echo second", "--rerun-after-crash")).toMatchObject({
      code: 0,
      stdout: "second\n",
    });
    await lab().powerOn("exec-1");
    expect(await once("exec-1", "power", "echo third")).toMatchObject({ code: 0, stdout: "" });
  });

  test.each(["both", "receive"] as const)(
    "the holder's network is cut (%s): its command ends before its lease, exit 5; then another may run it",
    async (direction) => {
      const job = `cut-${direction}`;
      const holder = beat("exec-1", job);
      await begun(job);
      expect(await once("exec-3", job, "echo second")).toMatchObject({ code: 0, stdout: "" });
      await lab().cut("exec-1", { direction });
      expect(await holder).toMatchObject({ code: 5, stderr: expect.stringContaining("was cut short") });
      await leaseOver(job);
      expect(await once("exec-2", job, "echo second")).toMatchObject({ code: 5, stdout: "" });
      const next = await once("exec-2", job, "cat /proc/uptime", "--rerun-after-crash");
      expect(next.code).toBe(0);
      // All hosts of the lab share one kernel, and so its monotonic clock.
      const beats = (await shell("exec-1", `cat /opt/beats-${job}`))
        .trim()
        .split("\n")
        .map(Number.parseFloat);
      expect(Math.max(...beats)).toBeLessThan(Number.parseFloat(next.stdout));
      await lab().heal();
      expect(await once("exec-1", job, "echo third")).toMatchObject({ code: 0, stdout: "" });
    },
  );

  test("cut for less than the lease: the run goes on", async () => {
    const running = once("exec-1", "blink", "sleep 12; echo end");
    await begun("blink");
    await lab().cut("exec-1");
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    await lab().heal();
    expect(await running).toMatchObject({ code: 0, stdout: "end\n" });
  });

  test("a host whose clock is an hour ahead runs nothing, and says why", async () => {
    await lab().clock("exec-2", 3_600);
    const line = `exec /opt/once ahead --fire-time "$(date -u +%Y-%m-%dT%H:%M:00Z)" --blocking skip -- echo second`;
    const one = await lab().exec("exec-2", ["systemd-run", "--quiet", "--wait", "--pipe", "sh", "-c", line]);
    expect(one).toMatchObject({ code: 4, stdout: "", stderr: expect.stringContaining("lies ahead") });
    // For a period, which every host writes down alike, the same clock changes nothing.
    const period = "exec /opt/once ahead --period 2026-07 --blocking skip -- echo once";
    const two = await lab().exec("exec-2", [
      "systemd-run",
      "--quiet",
      "--wait",
      "--pipe",
      "sh",
      "-c",
      period,
    ]);
    expect(two).toMatchObject({ code: 0, stdout: "once\n", stderr: expect.stringContaining("ahead of the") });
    await lab().clock("exec-2", 0);
  });

  async function shell(host: Host, line: string): Promise<string> {
    const result = await lab().exec(host, ["sh", "-c", line]);
    expect(result.code, `${line}: ${result.stderr}`).toBe(0);
    return result.stdout;
  }

  async function write(host: Host, file: string, text: string): Promise<void> {
    const script = 'cat > "$0" && chmod 755 "$0"';
    const result = await lab().exec(host, ["sh", "-c", script, file], { input: text });
    expect(result.code, result.stderr).toBe(0);
  }

  /** Node, the bundle, and a line that every cron line begins with: `/opt/once JOB …`. */
  async function installProgram(host: Host): Promise<void> {
    await unpack(host, `${process.execPath}`, "/opt/node");
    for (const library of ["libstdc++.so.6", "libgcc_s.so.1"]) {
      const found = (
        await run(["sh", "-c", `ldconfig -p | grep -m1 '${library}' | sed 's/.*=> //'`])
      ).stdout.trim();
      if (found !== "") await unpack(host, found, `/opt/lib/${library}`);
    }
    for (const file of ["bin/escapement.mjs", "dist/escapement.mjs", "package.json"])
      await unpack(host, file, `/opt/escapement/${file}`);
    const url = new URL(db.url);
    url.host = `${lab().state.controllerAddress}:${databasePort}`;
    const once = [
      "#!/bin/sh",
      `export ESCAPEMENT_GUARD_URL='${url.href}' LD_LIBRARY_PATH=/opt/lib`,
      "job=$1; shift",
      'exec /opt/node /opt/escapement/bin/escapement.mjs once --job "$job" --lease 8s "$@"',
    ];
    await write(host, "/opt/once", `${once.join("\n")}\n`);
    expect(await shell(host, "LD_LIBRARY_PATH=/opt/lib /opt/node --version")).toBe(`${process.version}\n`);
  }

  async function unpack(host: Host, file: string, target: string): Promise<void> {
    const script = 'exec 3< "$1"; shift; exec "$@" <&3';
    const receive = `mkdir -p "$(dirname "$0")" && cat > "$0" && chmod 755 "$0"`;
    const result = await run([
      "sh",
      "-c",
      script,
      "sh",
      file,
      ...lab().insideHost(host),
      "sh",
      "-c",
      receive,
      target,
    ]);
    expect(result.code, result.stderr).toBe(0);
  }

  function once(host: Host, job: string, command: string, ...more: string[]) {
    const slot = ["--period", "2026-07", "--blocking", "skip", ...more];
    return lab().exec(host, ["/opt/once", job, ...slot, "--", "sh", "-c", command], { deadlineMs: 240_000 });
  }

  /** A run that writes the monotonic clock until somebody stops it. */
  function beat(host: Host, job: string) {
    return once(host, job, `while :; do cat /proc/uptime >> /opt/beats-${job}; sleep 0.1; done`);
  }

  const isLive = async (job: string) =>
    (
      await db.pool.query<{ live: boolean }>(
        "SELECT lease_until > clock_timestamp() AS live FROM escapement_guard.once_run WHERE job = $1 AND state = 'running'",
        [job],
      )
    ).rows[0]?.live ?? false;
  const begun = (job: string) =>
    until(() => isLive(job), { what: `the run of ${job} to begin`, deadlineMs: 60_000 });
  const leaseOver = (job: string) =>
    until(async () => !(await isLive(job)), { what: `the lease of ${job} to end`, deadlineMs: 60_000 });
});

/** The database's server listens on this machine alone; hosts reach it through this. */
function listen(address: string, port: number): Promise<Server> {
  const server = createServer((host) => {
    const database = connect({ host: "127.0.0.1", port });
    for (const [from, to] of [
      [host, database],
      [database, host],
    ] as const) {
      from.on("error", () => to.destroy());
      from.pipe(to);
    }
  });
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(databasePort, address, () => resolve(server));
  });
}

function run(argv: readonly string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const child = spawn(argv[0]!, argv.slice(1), { stdio: ["ignore", "pipe", "pipe"] });
    let stdout = "";
    let stderr = "";
    child.stdout.on("data", (part) => (stdout += String(part)));
    child.stderr.on("data", (part) => (stderr += String(part)));
    child.on("close", (code) => resolve({ code, stdout, stderr }));
  });
}
