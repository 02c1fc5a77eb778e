/** The program of the host that runs a job as another user, on a real host with systemd. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { hostLab, noHosts } from "../../support/host-lab.ts";
import { until } from "../../support/until.ts";

const program = "/usr/local/lib/escapement/run-job";
const limitMs = 30_000;

describe.skipIf(noHosts)("an attempt in a scope", () => {
  const lab = hostLab({ hosts: ["exec-1"] });
  let count = 0;

  const host = async (script: string) => {
    const { code, stdout, stderr } = await lab().exec("exec-1", ["env", "-C", "/", "sh", "-c", script]);
    return { code, text: stdout.trim(), stderr };
  };
  const must = async (script: string) => {
    const { code, text, stderr } = await host(script);
    if (code !== 0) throw new Error(`${script}: ${text}${stderr}`);
    return text;
  };

  beforeAll(async () => {
    const runJob = Buffer.from(readFileSync("profiles/files/run-job")).toString("base64");
    await must(`
      set -e
      useradd --system --shell /usr/sbin/nologin escapement-executor
      useradd --create-home --shell /usr/sbin/nologin settlement
      useradd --system stranger
      mkdir -p /usr/local/lib/escapement /etc/escapement
      echo ${runJob} | base64 -d > ${program}
      chmod 755 ${program}
      printf 'escapement-executor\\nsettlement\\nroot\\n' > /etc/escapement/job-users
      echo 'escapement-executor ALL=(root) NOPASSWD: ${program}' > /etc/sudoers.d/escapement-executor
      chmod 440 /etc/sudoers.d/escapement-executor
      printf '[Service]\\nUser=escapement-executor\\nExecStart=/bin/sleep infinity\\n' > /etc/systemd/system/escapement-executor.service
      systemctl daemon-reload
      systemctl start escapement-executor.service
    `);
  });

  /** As the executor's supervisor starts it: as its user, through sudo. */
  function start(
    command: readonly string[],
    more: { user?: string; memory?: number; environment?: string } = {},
  ) {
    count += 1;
    const unit = `escapement-job-0123456789ab-${count}`;
    const options = [
      "--user",
      more.user ?? "settlement",
      "--unit",
      unit,
      "--bound-to",
      "escapement-executor.service",
    ];
    const limits = ["--memory-max", String(more.memory ?? 64 << 20), "--tasks-max", "64"];
    const asExecutor = [
      "setpriv",
      "--reuid=escapement-executor",
      "--regid=escapement-executor",
      "--init-groups",
    ];
    const argv = [
      "env",
      "-C",
      "/",
      ...asExecutor,
      "sudo",
      "-n",
      program,
      ...options,
      ...limits,
      "--",
      ...command,
    ];
    const [first, ...rest] = [...lab().insideHost("exec-1"), ...argv];
    const child = spawn(first!, rest, { stdio: ["pipe", "pipe", "pipe"] });
    let text = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (piece: string) => {
        text += piece;
      });
    child.stdin.on("error", () => {});
    child.stdin.write(`${more.environment ?? ""}.\n`);
    const ended = once(child, "close").then(([code]) => ({ code: code as number | null, text }));
    const said = (pattern: RegExp) =>
      until(async () => pattern.test(text), { what: `${pattern} in: ${text}`, deadlineMs: limitMs });
    return { child, unit, ended, said };
  }
  const active = async (unit: string) => (await host(`systemctl is-active ${unit}.scope`)).text === "active";
  const gone = (unit: string) =>
    until(async () => !(await active(unit)), { what: `end of ${unit}`, deadlineMs: limitMs });
  const sleepers = async () => Number((await host("pgrep -u settlement -c sleep")).text);

  test("as the user, without rights, with the environment and a folder of its own", async () => {
    const script =
      'id -un; id -G; grep -E "^(CapEff|NoNewPrivs)" /proc/self/status; echo "<$GIVEN>" "$HOME" "$LD_PRELOAD"; pwd; touch here; cat; exit 7';
    const { ended, unit } = start(["sh", "-c", script], { environment: "export GIVEN='a b'\n" });
    const { code, text } = await ended;
    expect(text.split("\n")).toEqual([
      "settlement",
      expect.any(String),
      expect.stringMatching(/CapEff:\s0+$/),
      expect.stringMatching(/NoNewPrivs:\s1$/),
      "<a b> /home/settlement ",
      `/var/lib/escapement/jobs/${unit}`,
      "",
    ]);
    expect(code).toBe(7);
    expect((await host(`ls -d /var/lib/escapement/jobs/${unit}`)).code).not.toBe(0);
    expect(await active(unit)).toBe(false);
  });

  test.each([
    ["stranger", "user stranger is not in"],
    ["root", "a job never runs as root"],
    ["nobody-here", "is not in"],
  ])("refuses the user %s", async (user, reason) => {
    const { code, text } = await start(["true"], { user }).ended;
    expect([code, text]).toEqual([125, expect.stringContaining(reason)]);
  });

  test("refuses when others may write the list", async () => {
    await must("chmod 666 /etc/escapement/job-users");
    const open = await start(["true"]).ended;
    await must("chmod 644 /etc/escapement/job-users; chown settlement /etc/escapement/job-users");
    const foreign = await start(["true"]).ended;
    await must("chown root /etc/escapement/job-users");
    for (const { code, text } of [open, foreign])
      expect([code, text]).toEqual([125, expect.stringContaining("writable by root only")]);
    expect((await start(["true"]).ended).code).toBe(0);
  });

  test("sudo allows nothing else", async () => {
    const { code } = await host(
      "setpriv --reuid=escapement-executor --clear-groups --regid=escapement-executor sudo -n id",
    );
    expect(code).not.toBe(0);
  });

  test("above its memory it is killed, below it is not", async () => {
    const eat = (mebibytes: number) => [
      "sh",
      "-c",
      `head -c ${mebibytes}M /dev/zero | tail -c ${mebibytes}M | wc -c`,
    ];
    expect((await start(["sh", "-c", "head -c 300M /dev/zero | tail -c 200M"]).ended).code).toBe(137);
    expect(await start(eat(16)).ended).toEqual({ code: 0, text: `${16 << 20}\n` });
  });

  test("end of input kills it, with what left its group", async () => {
    const { child, unit, said, ended } = start([
      "sh",
      "-c",
      "setsid sleep 1000 & trap '' TERM; echo up; sleep 1001",
    ]);
    await said(/up/);
    expect(await active(unit)).toBe(true);
    expect(await sleepers()).toBe(2);
    child.stdin.end();
    expect((await ended).code).toBe(137);
    expect([await active(unit), await sleepers()]).toEqual([false, 0]);
  });

  test("told to end, it gets SIGTERM; told to die, SIGKILL", async () => {
    const polite = start(["sh", "-c", "trap 'echo bye; exit 3' TERM; echo up; while :; do sleep 0.1; done"]);
    await polite.said(/up/);
    polite.child.stdin.write("term\n");
    expect(await polite.ended).toEqual({ code: 3, text: expect.stringContaining("bye") });
    const deaf = start(["sh", "-c", "trap '' TERM; echo up; while :; do sleep 0.1; done"]);
    await deaf.said(/up/);
    deaf.child.stdin.write("term\n");
    deaf.child.stdin.write("kill\n");
    expect((await deaf.ended).code).toBe(137);
  });

  test("what it started and did not wait for ends with it", async () => {
    const { unit, ended } = start(["sh", "-c", "setsid sleep 1000 & echo up"]);
    expect(await ended).toMatchObject({ code: 0 });
    expect([await active(unit), await sleepers()]).toEqual([false, 0]);
  });

  test("the starter is killed: its scope can still be ended, and nothing but a scope of ours", async () => {
    const { child, unit, said, ended } = start(["sh", "-c", "echo up; exec sleep 1000"]);
    const exit = once(child, "exit");
    await said(/up/);
    await must(`pkill -KILL -f '[r]un-job --user .*${unit}'`);
    await exit;
    expect(await active(unit)).toBe(true);
    const asExecutor = "setpriv --reuid=escapement-executor --regid=escapement-executor --init-groups";
    expect((await host(`${asExecutor} sudo -n ${program} --end escapement-executor`)).code).toBe(125);
    await must(`${asExecutor} sudo -n ${program} --end ${unit}`);
    // Only now is nobody left who could write.
    await ended;
    expect([await active(unit), await sleepers()]).toEqual([false, 0]);
  });

  test("the unit of the executor stops: so does the scope", async () => {
    const { unit, said, ended } = start(["sh", "-c", "setsid sleep 1000 & echo up; exec sleep 1001"]);
    await said(/up/);
    await must("systemctl stop escapement-executor.service");
    await gone(unit);
    await ended;
    expect(await sleepers()).toBe(0);
    const { code, text } = await start(["true"]).ended;
    expect([code, text]).toEqual([125, "run-job: escapement-executor.service does not run\n"]);
    await must("systemctl start escapement-executor.service");
  });

  test("the executor is told before its scopes are: it can still give its attempts back", async () => {
    await must(`mkdir -p /etc/systemd/system/escapement-executor.service.d
      printf '[Service]\\nExecStop=+/bin/sh -c "systemctl list-units --plain --no-legend --state=active escapement-job-*.scope > /run/at-stop"\\n' > /etc/systemd/system/escapement-executor.service.d/at-stop.conf
      systemctl daemon-reload`);
    const { unit, said, ended } = start(["sh", "-c", "echo up; exec sleep 1001"]);
    await said(/up/);
    await must("systemctl stop escapement-executor.service");
    await gone(unit);
    await ended;
    expect(await must("cat /run/at-stop")).toContain(`${unit}.scope`);
  });
});
