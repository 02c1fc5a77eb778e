/** What a host of the lab is, and what can be done to it: proven by what happens inside and between hosts. */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { hostLab, noHosts } from "../../support/host-lab.ts";
import { until } from "../../support/until.ts";

describe.skipIf(noHosts)("two hosts", () => {
  const lab = hostLab({ hosts: ["sched-1", "exec-1"] });
  const [a, b] = ["sched-1", "exec-1"];

  /** Runs a shell line inside a host; its output, or the failure of the test. */
  async function shell(host: string, line: string): Promise<string> {
    const result = await lab().exec(host, ["sh", "-c", line], { deadlineMs: 120_000 });
    expect(result.code, `${line}: ${result.stderr}${result.stdout}`).toBe(0);
    return result.stdout.trim();
  }
  const addressOf = (host: string) => lab().hosts.find((one) => one.name === host)!.address;
  const reaches = async (from: string, to: string) =>
    (await lab().exec(from, ["ping", "-c", "1", "-W", "1", to])).code === 0;

  test("each has its own name, identity and key, and no unit has failed", async () => {
    for (const host of [a, b]) {
      await until(async () => (await shell(host, "systemctl is-system-running || :")) === "running", {
        what: `${host} to finish its start`,
      });
      expect(await shell(host, "hostname")).toBe(host);
    }
    for (const file of [
      "/etc/machine-id",
      "/etc/ssh/ssh_host_ed25519_key.pub",
      "/proc/sys/kernel/random/boot_id",
    ])
      expect(await shell(a, `cat ${file}`), file).not.toBe(await shell(b, `cat ${file}`));
  });

  test("a host installs packages with no way to the internet", async () => {
    expect(await shell(a, "command -v nft || echo none")).toBe("none");
    await shell(a, "DEBIAN_FRONTEND=noninteractive apt-get install -y -qq nftables");
    expect(await shell(a, "nft --version")).toMatch(/nftables v/);
    expect(await shell(b, "command -v nft || echo none")).toBe("none");
  });

  test("the time sources tell this machine's time, on three addresses", async () => {
    const { timeSources } = lab().state;
    expect(timeSources).toHaveLength(3);
    await shell(b, "DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chrony");
    for (const source of timeSources) {
      const said = await lab().exec(b, ["chronyd", "-Q", "-t", "8", `server ${source} iburst`]);
      expect(said.stderr + said.stdout).toMatch(/System clock wrong by -?0\.0\d+ seconds/);
    }
  });

  test("a memory limit of a unit holds, and so does a limit of tasks", async () => {
    const scope = (limit: string, script: string) =>
      lab().exec(a, ["systemd-run", "--quiet", "--scope", "-p", limit, "python3", "-c", script]);
    expect((await scope("MemoryMax=64M", "x = bytearray(200 << 20)")).code).not.toBe(0);
    expect((await scope("MemoryMax=64M", "x = bytearray(16 << 20)")).code).toBe(0);
    expect(
      (await scope("TasksMax=3", "import os\nfor i in range(5):\n  if not os.fork(): os.read(0, 1); break"))
        .code,
    ).not.toBe(0);
  });

  test("a cut host hears nobody and is heard by nobody until it is healed", async () => {
    expect(await reaches(a, addressOf(b))).toBe(true);
    await lab().cut(b);
    expect(await reaches(a, addressOf(b))).toBe(false);
    expect(await reaches(b, addressOf(a))).toBe(false);
    expect(await reaches(b, lab().state.controllerAddress)).toBe(false);
    expect(await reaches(b, lab().state.timeSources[0]!)).toBe(false);
    await lab().heal(b);
    expect(await reaches(a, addressOf(b))).toBe(true);
  });

  test("a host whose receiving is cut is still heard", async () => {
    // Known to each other already, or the question for the hardware address would be what gets lost.
    expect(await reaches(a, addressOf(b))).toBe(true);
    const count = (host: string) =>
      shell(host, "awk '$1 == \"Udp:\" && $2 ~ /[0-9]/ { print $2 + $3 }' /proc/net/snmp");
    const send = (from: string, to: string) =>
      shell(from, `python3 -c 'import socket; socket.socket(2, 2).sendto(b"x", ("${addressOf(to)}", 9))'`);
    await lab().cut(b, { direction: "receive" });
    const before = { a: Number(await count(a)), b: Number(await count(b)) };
    await send(b, a);
    await until(async () => Number(await count(a)) === before.a + 1, { what: "the packet that b sent" });
    await send(a, b);
    await send(b, a);
    await until(async () => Number(await count(a)) === before.a + 2, {
      what: "the second packet that b sent",
    });
    expect(Number(await count(b))).toBe(before.b);
    await lab().heal();
    await send(a, b);
    await until(async () => Number(await count(b)) === before.b + 1, { what: "the packet after healing" });
  });

  test("a cut from one peer leaves the others", async () => {
    await lab().cut(b, { peers: [a] });
    expect(await reaches(b, addressOf(a))).toBe(false);
    expect(await reaches(b, lab().state.controllerAddress)).toBe(true);
    expect(await reaches(b, lab().state.timeSources[0]!)).toBe(true);
    await lab().heal();
    await lab().cut(b, { peers: ["controller", "time"] });
    expect(await reaches(b, addressOf(a))).toBe(true);
    expect(await reaches(b, lab().state.controllerAddress)).toBe(false);
    expect(await reaches(b, lab().state.timeSources[0]!)).toBe(false);
    await lab().heal();
  });

  test("a clock is moved for running and new units of one host, and for nobody else", async () => {
    const now = () => Math.floor(Date.now() / 1_000);
    await shell(
      a,
      "systemd-run --quiet --unit=ticks sh -c 'while :; do date +%s > /run/ticks; sleep 0.2; done'",
    );
    const ticks = async () => Number(await shell(a, "cat /run/ticks")) - now();
    const fresh = async (host: string) =>
      Number(await shell(host, "systemd-run --quiet --pipe --wait date +%s")) - now();
    for (const offset of [300, -300, 0]) {
      await lab().clock(a, offset);
      await until(async () => Math.abs((await ticks()) - offset) <= 3, {
        what: `the running unit to be ${offset} s off`,
        deadlineMs: 10_000,
      });
      expect(Math.abs((await fresh(a)) - offset)).toBeLessThanOrEqual(3);
      expect(Math.abs(await fresh(b))).toBeLessThanOrEqual(3);
    }
    await shell(a, "systemctl stop ticks");
  });

  test("PostgreSQL of the host follows its clock", async () => {
    await shell(b, "DEBIAN_FRONTEND=noninteractive apt-get install -y -qq postgresql");
    const ahead = async () =>
      Number(await shell(b, `su postgres -c "psql -Atc 'select extract(epoch from clock_timestamp())'"`)) -
      Date.now() / 1_000;
    expect(Math.abs(await ahead())).toBeLessThan(3);
    await lab().clock(b, 300);
    expect(Math.abs((await ahead()) - 300)).toBeLessThan(3);
    await lab().clock(b, 0);
    // New settings are read without a restart, as on a machine without the library.
    await shell(b, "systemctl reload postgresql@15-main.service");
    expect(await shell(b, "systemctl is-active postgresql@15-main.service")).toBe("active");
  });

  test("pulling the plug leaves no process, and peers see silence; the disk stays", async () => {
    const bootId = await shell(a, "cat /proc/sys/kernel/random/boot_id");
    const mark = `escapement-survivor-${process.pid}`;
    // A child that left its session and its parent.
    await shell(
      a,
      `python3 -c 'import os
if not os.fork():
  os.setsid()
  if not os.fork(): os.execvp("sh", ["${mark}", "-c", "while :; do sleep 1; done"])
  os._exit(0)' > /dev/null 2>&1 && echo written > /var/note`,
    );
    await until(() => machineRuns(mark), { what: "the process to be seen" });
    await lab().powerOff(a);
    expect(machineRuns(mark)).toBe(false);
    expect(
      lab()
        .status()
        .find((host) => host.name === a)!.power,
    ).toBe("off");
    expect(await reaches(b, addressOf(a))).toBe(false);
    await expect(lab().exec(a, ["true"])).rejects.toMatchObject({ code: "E_LAB_HOST_OFF" });
    await lab().powerOn(a);
    expect(await shell(a, "cat /var/note")).toBe("written");
    expect(await shell(a, "cat /proc/sys/kernel/random/boot_id")).not.toBe(bootId);
    expect(await reaches(b, addressOf(a))).toBe(true);
    // Limits hold after a second start, too.
    const eater = [
      "systemd-run",
      "--quiet",
      "--scope",
      "-p",
      "MemoryMax=64M",
      "python3",
      "-c",
      "x = bytearray(200 << 20)",
    ];
    expect((await lab().exec(a, eater)).code).not.toBe(0);
  });

  test("a host can restart itself and switch itself off", async () => {
    const bootId = () => lab().exec(a, ["cat", "/proc/sys/kernel/random/boot_id"]);
    // systemd takes no orders before its bus is there.
    const isUp = () =>
      until(async () => (await lab().exec(a, ["systemctl", "is-system-running"])).stdout === "running\n", {
        what: "the end of the start",
        deadlineMs: 100_000,
      });
    await isUp();
    const first = (await bootId()).stdout;
    await lab().exec(a, ["systemctl", "reboot"]);
    await until(
      async () => (await bootId()).stdout.length === first.length && (await bootId()).stdout !== first,
      {
        // systemd gives a unit that does not want to stop 90 s.
        what: "another start",
        deadlineMs: 150_000,
      },
    );
    await until(() => reaches(b, addressOf(a)), { what: "its address" });
    await isUp();
    await shell(a, "systemctl poweroff");
    const power = () =>
      lab()
        .status()
        .find((host) => host.name === a)!.power;
    await until(() => power() === "off", { what: "the host to be off", deadlineMs: 60_000 });
    await lab().powerOn(a);
    expect((await bootId()).stdout).not.toBe(first);
  });

  test("peers of a host that lost its power wait; nothing tells them that it is gone", async () => {
    const client = `import socket
s = socket.create_connection(("${addressOf(a)}", 22)); s.recv(100)
print("connected", flush=True)
s.settimeout(4)
try: print("heard", s.recv(100))
except Exception as error: print(type(error).__name__)`;
    await shell(
      b,
      `systemd-run --quiet --unit=client -p StandardOutput=file:/run/client python3 -u -c '${client}'`,
    );
    await until(async () => /connected/.test(await shell(b, "cat /run/client")), { what: "the connection" });
    await lab().powerOff(a);
    await until(async () => /connected\n./.test(await shell(b, "cat /run/client")), {
      what: "the client's end",
    });
    expect(await shell(b, "cat /run/client")).toBe("connected\nTimeoutError");
    await lab().powerOn(a);
  });

  test("stopping a unit kills all of its processes", async () => {
    const mark = `escapement-child-${process.pid}`;
    await shell(
      b,
      `systemd-run --quiet --unit=parent sh -c 'setsid sh -c "while :; do sleep 1; done" ${mark} & wait'`,
    );
    await until(() => machineRuns(mark), { what: "the child" });
    await shell(b, "systemctl stop parent");
    await until(() => !machineRuns(mark), { what: "the child's end", deadlineMs: 10_000 });
  });
});

/** True while a process of this machine, so also one inside a host, has `mark` among its arguments. */
function machineRuns(mark: string): boolean {
  return pids().some((pid) => {
    try {
      return (
        Number(pid) !== process.pid && readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").includes(mark)
      );
    } catch {
      return false;
    }
  });
}

function pids(): string[] {
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name));
}
