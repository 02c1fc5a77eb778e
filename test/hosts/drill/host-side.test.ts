/** The host's own part of a drill, on a real host: every fault in, proven, out again, and nothing left. */
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { DrillEvent, DrillOrder } from "../../../src/chaos/host/drill-host.ts";
import { type DrillKey, makeDrillKey } from "../../../src/chaos/host/drill-key.ts";
import type { SshDrillHost } from "../../../src/chaos/host/ssh-drill-host.ts";
import { hostLab, noHosts } from "../../support/host-lab.ts";
import { until } from "../../support/until.ts";
import { shell } from "../provision/lab-targets.ts";
import { drillHost, everything, prepareVictim, stageDrills, victim } from "./staged-host.ts";

const name = "exec-1";
const clean = { residue: [], unseen: [] };

describe.skipIf(noHosts)("a drill on a host", () => {
  const lab = hostLab({ hosts: [name] });
  const folder = mkdtempSync(join(tmpdir(), "escapement-drill-"));
  let key: DrillKey;
  let host: SshDrillHost;
  const sh = (line: string) => shell(lab(), name, line);

  beforeAll(async () => {
    key = await makeDrillKey(join(folder, "key"));
    await stageDrills(lab(), name, key, everything);
    await prepareVictim(lab(), name);
    host = await drillHost(lab(), name, key);
  });
  afterAll(async () => {
    await host?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function order(more: Partial<DrillOrder> & Pick<DrillOrder, "fault">): Promise<DrillOrder> {
    const { bootId } = await host.look([]);
    return { run: randomUUID(), host: name, bootId, holdSeconds: 2, limitSeconds: 12, ...more };
  }
  const begin = async (more: Partial<DrillOrder> & Pick<DrillOrder, "fault">): Promise<string> => {
    const one = await order(more);
    await host.begin(one);
    return one.run;
  };
  const eventsOf = async (run: string) => (await host.progress(run)).events;
  const seen = (run: string, event: DrillEvent["event"]) =>
    until(async () => (await eventsOf(run)).find((one) => one.event === event), {
      what: `${event} of run ${run}`,
      deadlineMs: 60_000,
      everyMs: 100,
    });
  async function ended(run: string): Promise<readonly DrillEvent[]> {
    await seen(run, "ended");
    return eventsOf(run);
  }

  test("what it says of itself", async () => {
    const look = await host.look([victim, "nothing.service"], ["/srv/fill", "/nothing"]);
    expect(look.units).toEqual({
      [victim]: { active: "active", mainPid: expect.any(Number), processState: "S", restarts: 0 },
      "nothing.service": { active: "inactive", mainPid: 0, processState: "-", restarts: 0 },
    });
    expect(look.freeBytes).toEqual({ "/srv/fill": 16 << 20 });
    expect(look.addresses).toContain(lab().hosts[0]!.address);
    expect(Math.abs(look.wallMs - Date.now())).toBeLessThan(30_000);
    expect(look.can).toMatchObject({ kill: true, cut: true, clock: true, power: true, "memory-limit": true });
    expect(look.running).toBeUndefined();
    const { address } = lab().hosts[0]!;
    expect(await host.reach({ address, port: 22 })).toBe("answers");
    expect(await host.reach({ address, port: 1 })).toBe("answers");
    expect(await host.reach({ address: "nobody", port: 22 })).toBe("unknown");
  });

  const faults: readonly (readonly [string, Parameters<typeof order>[0], Record<string, unknown>])[] = [
    ["kill, kept down", { fault: "kill", unit: victim, keepDown: true }, { pidNow: 0, active: "failed" }],
    ["kill", { fault: "kill", unit: victim }, { pidBefore: expect.any(Number) }],
    ["stop, kept down", { fault: "stop", unit: victim, keepDown: true }, { pidNow: 0, active: "inactive" }],
    ["pause", { fault: "pause", unit: victim }, { processState: "T", active: "active" }],
    ["cut", { fault: "cut", keep: ["10.9.9.9", "2001:db8::1"] }, { table: "there", arp: "yes" }],
    ["receive", { fault: "cut", direction: "receive" }, { table: "there", arp: "no" }],
    ["clock ahead", { fault: "clock", offsetSeconds: 300 }, { method: "lab-clock-file" }],
    ["clock behind", { fault: "clock", offsetSeconds: -300 }, { method: "lab-clock-file" }],
    ["fill-disk", { fault: "fill-disk", path: "/srv/fill", reserveBytes: 2 << 20 }, { freeBytes: 2 << 20 }],
    ["memory-limit", { fault: "memory-limit", unit: victim, limitBytes: 64 << 20 }, { limitBytes: 64 << 20 }],
  ];
  test.each(faults)("%s: in, proven, out", async (_, more, holding) => {
    // Made before, so that it arrives while the first is on; and a unit is tried to be started meanwhile.
    const second = await order({ fault: "cut" });
    const run = await begin(more.keepDown ? { holdSeconds: 10, limitSeconds: 20, ...more } : more);
    await expect(host.begin(second)).rejects.toMatchObject({
      code: "E_DRILL_REFUSED",
      message: expect.stringContaining(`run ${run} is on`),
    });
    expect((await seen(run, "holding")).detail).toMatchObject(holding);
    if (more.keepDown) {
      await sh(`systemctl start ${victim}`);
      expect(await sh(`systemctl is-active ${victim} || :`)).toMatch(/^(inactive|failed)$/);
    }
    const events = await ended(run);
    expect(events.map(({ event }) => event).filter((one) => one !== "proof")).toEqual([
      ...["armed", "injected", "holding", "restored", "audit", "ended"],
    ]);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => i + 1));
    expect(events.find(({ event }) => event === "restored")!.detail).toMatchObject({
      by: "run",
      lifted: true,
    });
    expect(await host.audit()).toEqual(clean);
    expect((await host.look([victim])).units[victim]).toMatchObject({ active: "active", processState: "S" });
  });

  test("the clock is where the order says, and right again", async () => {
    const run = await begin({ fault: "clock", offsetSeconds: 300, holdSeconds: 4 });
    await seen(run, "holding");
    const during = await host.look([]);
    expect((during.wallMs - Date.now()) / 1_000).toBeCloseTo(300, -1);
    await ended(run);
    expect(Math.abs((await host.look([])).wallMs - Date.now())).toBeLessThan(30_000);
  });

  test("a time daemon is stopped while the clock is wrong, and found again as it was", async () => {
    // Whoever may not set the clock may still be a daemon that is to be left as it was.
    await sh(`DEBIAN_FRONTEND=noninteractive apt-get install -y -q chrony >/dev/null 2>&1
      mkdir -p /etc/systemd/system/chrony.service.d
      printf '[Unit]\\nConditionCapability=\\n[Service]\\nEnvironment="DAEMON_OPTS=-x"\\nEnvironmentFile=\\n' > /etc/systemd/system/chrony.service.d/lab.conf
      printf '[Unit]\\nRequires=chrony.service\\nAfter=chrony.service\\n[Service]\\nExecStart=/bin/sleep infinity\\n' > /etc/systemd/system/waits.service
      systemctl daemon-reload; systemctl restart chrony; systemctl start waits`);
    const waits = () => sh("systemctl show -p MainPID,ActiveState waits");
    const before = await waits();
    expect(before).toContain("ActiveState=active");
    const state = () => sh("systemctl is-active chrony || :; systemctl is-enabled chrony");
    expect(await state()).toBe("active\nenabled");
    expect((await host.look([])).timeDaemon).toMatchObject({ name: "chrony.service", running: true });
    const run = await begin({ fault: "clock", offsetSeconds: 300 });
    await seen(run, "holding");
    expect(await state()).toBe("inactive\nenabled");
    expect(await waits()).toBe(before);
    await ended(run);
    expect(await waits()).toBe(before);
    expect(await state()).toBe("active\nenabled");
    expect(await host.audit()).toEqual(clean);
    await sh("systemctl stop chrony");
    await ended(await begin({ fault: "clock", offsetSeconds: 300 }));
    expect(await state()).toBe("inactive\nenabled");
  });

  test("halt takes it back at once, and without an order", async () => {
    const run = await begin({ fault: "cut", holdSeconds: 60, limitSeconds: 90 });
    await seen(run, "holding");
    const { halted, restoredMs } = await host.halt();
    expect(halted).toBe(true);
    expect(restoredMs).toBeLessThan(2_000);
    const events = await ended(run);
    expect(events.find(({ event }) => event === "abort")!.detail).toEqual({ reason: "halt" });
    expect(events.find(({ event }) => event === "restored")!.detail).toMatchObject({ by: "halt" });
    expect(await host.audit()).toEqual(clean);
    expect(await host.halt()).toEqual({ halted: false, restoredMs: 0 });
  });

  test("whoever is kept gets through a cut, and nobody else; what others put into the network stays", async () => {
    const card = await sh(
      "ip -o link show | sed -n 's/^[0-9]*: \\([^:@]*\\).*/\\1/p' | grep -vx lo | head -n 1",
    );
    const before = await sh(
      `nft 'add table inet site; add chain inet site c { type filter hook input priority 0; policy accept; }; add rule inet site c counter accept comment "site"'
       tc qdisc add dev ${card} root handle 77: pfifo limit 100
       nft -s list table inet site; tc qdisc show dev ${card}`,
    );
    expect(before).toContain("qdisc pfifo 77:");
    const gateway = lab().state.timeSources[0]!;
    expect(await sh(`ping -c 1 -W 2 ${gateway} >/dev/null && echo heard`)).toBe("heard");
    const run = await begin({ fault: "cut", holdSeconds: 4 });
    await seen(run, "holding");
    expect(await sh(`ping -c 1 -W 1 ${gateway} >/dev/null && echo heard || echo silence`)).toBe("silence");
    await ended(run);
    expect(await sh(`ping -c 1 -W 2 ${gateway} >/dev/null && echo heard`)).toBe("heard");
    expect(await sh(`nft -s list table inet site; tc qdisc show dev ${card}`)).toBe(before);
    const proofs = (await eventsOf(run)).filter(({ event }) => event === "proof");
    expect(Number(proofs.at(-1)!.detail.sentDropped)).toBeGreaterThan(0);
    await sh(`nft delete table inet site; tc qdisc del dev ${card} root`);
  });

  test("someone else flushes the rule set: found, and over", async () => {
    const run = await begin({ fault: "cut", holdSeconds: 30, limitSeconds: 60 });
    await seen(run, "holding");
    await sh("nft flush ruleset");
    const events = await ended(run);
    expect(events.findLast(({ event }) => event === "proof")!.detail).toEqual({
      inEffect: false,
      table: "gone",
    });
    expect(events.find(({ event }) => event === "abort")!.detail.reason).toContain("flushed");
    expect(await host.audit()).toEqual(clean);
  });

  test("the kernel heals a cut with nobody of ours alive", async () => {
    const run = await begin({ fault: "cut", holdSeconds: 5, limitSeconds: 6 });
    await seen(run, "holding");
    // systemd itself is told to forget all that would put it back.
    await sh(`systemctl stop escapement-drill-${run}-timer.timer
      mv /run/escapement-drill/${run}/drill /run/escapement-drill/${run}/drill.away
      systemctl kill --signal=KILL 'escapement-drill-${run}*'`);
    const gateway = lab().state.timeSources[0]!;
    expect(await sh(`ping -c 1 -W 1 ${gateway} >/dev/null && echo heard || echo silence`)).toBe("silence");
    await until(
      async () => (await sh(`ping -c 1 -W 1 ${gateway} >/dev/null && echo heard || :`)) === "heard",
      {
        what: "the end of the timeout",
        deadlineMs: 10_000,
      },
    );
    expect((await host.audit()).residue.map(({ what }) => what)).toContain("nft-table");
    await sh(`mv /run/escapement-drill/${run}/drill.away /run/escapement-drill/${run}/drill`);
    await host.halt();
    await ended(run);
    expect(await host.audit()).toEqual(clean);
  });

  test.each([
    ["timer", "keeper.service"],
    ["keeper", "timer.timer"],
  ])("the %s alone brings the host back while the run hangs", async (deadMan, other) => {
    const run = await begin({ fault: "pause", unit: victim, holdSeconds: 3, limitSeconds: 5 });
    await seen(run, "holding");
    await sh(`systemctl stop escapement-drill-${run}-${other}
      systemctl kill --signal=STOP escapement-drill-${run}.service
      systemctl kill --signal=KILL escapement-drill-${run}-keeper.service 2>/dev/null || :`);
    const events = await ended(run);
    const restored = events.find(({ event }) => event === "restored")!;
    expect(restored.detail).toMatchObject({ by: deadMan, lifted: true });
    expect(restored.bootMs).toBeGreaterThanOrEqual(Number(events[0]!.detail.deadlineBootMs));
    expect(await host.audit()).toEqual(clean);
  });

  test("a run that hangs with the lock in its hand is killed for it", async () => {
    const one = await order({
      fault: "kill",
      unit: victim,
      keepDown: true,
      holdSeconds: 30,
      limitSeconds: 40,
    });
    const { run } = one;
    // Stopped in the middle of its injection: systemd is reading its files anew, which takes a while.
    const stopped = sh(`cd /; until [ -e run/escapement-drill/${run}/injecting ]; do sleep 0.01; done
      pkill -STOP -f '[d]rill run ${run}'; sleep 0.5; ! flock -n run/escapement-drill/${run}/lock true`);
    await host.begin(one);
    await stopped;
    const { halted, restoredMs } = await host.halt();
    expect(halted).toBe(true);
    expect(restoredMs).toBeLessThan(2_000);
    await ended(run);
    expect(await host.audit()).toEqual(clean);
  });

  test("what is left over is found, and swept by halt", async () => {
    await sh(`nft add table inet escapement_drill; touch /srv/fill/.escapement-drill-fill
      mkdir -p /run/systemd/system/${victim}.d; echo '[Service]' > /run/systemd/system/${victim}.d/escapement-drill.conf
      kill -STOP $(systemctl show -p MainPID --value ${victim})`);
    expect((await host.audit()).residue.map(({ what }) => what).sort()).toEqual(
      expect.arrayContaining(["drop-in", "fill-file", "nft-table", "stopped-process"]),
    );
    await sh(`kill -CONT $(systemctl show -p MainPID --value ${victim})`);
    await host.halt();
    expect(await host.audit()).toEqual(clean);
  });

  test.each([
    ["disk", { fault: "fill-disk", path: "/srv/fill", reserveBytes: 2 << 20 }],
    ["network", { fault: "cut" }],
    ["unit", { fault: "stop", unit: victim, keepDown: true }],
    ["clock", { fault: "clock", offsetSeconds: 300 }],
  ] as const)("a reboot in the middle leaves nothing: %s", async (_, more) => {
    const run = await begin({ ...more, holdSeconds: 100, limitSeconds: 150 });
    await seen(run, "holding");
    await sh("systemctl reboot --force --force & sleep 60").catch(() => {});
    await host.close();
    const events = await ended(run);
    expect(events.find(({ event }) => event === "restored")!.detail).toMatchObject({ by: "boot" });
    expect(events.at(-1)!.detail).toEqual({ residue: 0, rebooted: true });
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => i + 1));
    expect(await sh("cat /var/lib/lab/clock")).toBe("+0");
    expect(await host.audit()).toEqual(clean);
  });

  test("power: gone without a goodbye, and back", async () => {
    const one = await order({ fault: "power", holdSeconds: 1, limitSeconds: 120 });
    await host.begin(one);
    await host.close();
    const events = await ended(one.run);
    expect(events.map(({ event }) => event)).toEqual(["armed", "injected", "restored", "audit", "ended"]);
    expect((await host.look([])).bootId).not.toBe(one.bootId);
    expect(await host.audit()).toEqual(clean);
    // An order for the boot before is none for this one.
    await expect(host.begin({ ...one, run: randomUUID(), fault: "cut" })).rejects.toThrow(/for boot/);
  });
});
