/** A host that is a virtual machine, beside one that is not: what only a kernel and a clock of its own can show. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { capabilities } from "../../../src/lab/hosts/capabilities.ts";
import { hierarchies } from "../../../src/lab/hosts/control-group.ts";
import { LabPlace } from "../../../src/lab/hosts/lab-place.ts";
import { packagesMount } from "../../../src/lab/hosts/root-image.ts";
import { whyNoMachines } from "../../../src/lab/vm/accelerator.ts";
import { applyHost } from "../../../src/provision/apply/apply-host.ts";
import { rollbackHost } from "../../../src/provision/apply/rollback-host.ts";
import { verdictOf } from "../../../src/provision/drift/verdict.ts";
import { hasChanges } from "../../../src/provision/plan/host-plan.ts";
import { lookAndPlan } from "../../../src/provision/plan/look.ts";
import type { Resource } from "../../../src/provision/resource.ts";
import type { Remote } from "../../../src/remote/remote.ts";
import { connectTo } from "../../hosts/provision/lab-targets.ts";
import { hostLab, noHosts } from "../../support/host-lab.ts";
import { unavailable } from "../../support/tier.ts";
import { until } from "../../support/until.ts";

const common = { risk: "medium", noop: "", after: [], restarts: [], provenance: [] } as const;
const mountOption = (mountPoint: string, ...options: readonly string[]): Resource => ({
  ...common,
  kind: "mount-option",
  id: `mount-option:${mountPoint}`,
  mountPoint,
  options,
});
const kernelParameter = (name: string, value: string): Resource => ({
  ...common,
  kind: "kernel-parameter",
  id: `kernel-parameter:${name}`,
  name,
  value,
});
const ofKernel = [
  mountOption("/", "relatime"),
  mountOption(packagesMount, "nosuid"),
  kernelParameter("mitigations", "off"),
  kernelParameter("nosmt", ""),
];
const mounted = `findmnt -no OPTIONS /; findmnt -no OPTIONS ${packagesMount}`;

const reason = whyNoMachines();
const noMachines = unavailable(`virtual machines (${reason})`, reason === undefined);

describe.skipIf(noHosts || noMachines)("a virtual machine and a container", () => {
  const lab = hostLab({ hosts: ["exec-1", "exec-2"], virtual: ["exec-1"] });
  const shell = async (host: string, line: string) => {
    const result = await lab().exec(host, ["sh", "-c", line], { deadlineMs: 120_000 });
    expect(result.code, `${line}: ${result.stderr}${result.stdout}`).toBe(0);
    return result.stdout.trim();
  };
  const offsetOf = async (host: string) => Number(await shell(host, "date +%s.%N")) - Date.now() / 1_000;
  const reaches = async (from: string, to: string) =>
    (await lab().exec(from, ["ping", "-c", "1", "-W", "3", to], { deadlineMs: 60_000 })).code === 0;

  const overNew = async <T>(work: (remote: Remote) => Promise<T>) => {
    const remote = await (await connectTo(lab(), "exec-1"))();
    try {
      return await work(remote);
    } finally {
      await remote.close();
    }
  };
  const plan = () => overNew((remote) => lookAndPlan(remote, ofKernel, {}));
  const everything = `${mounted}; cat /etc/fstab /boot/grub/grub.cfg; ls /etc/default/grub.d`;
  let before = "";

  test("it has a kernel of its own, its name, and the lab's packages", async () => {
    expect(await shell("exec-1", "uname -r")).not.toBe(await shell("exec-2", "uname -r"));
    expect(await shell("exec-1", "hostname; cat /etc/hostname")).toBe("exec-1\nexec-1");
    expect(await shell("exec-1", "systemd-detect-virt")).toMatch(/^(qemu|kvm)$/);
    expect(await shell("exec-1", "apt-cache policy chrony | sed -n 's/ *Candidate: //p'")).not.toBe("");
    expect(await shell("exec-1", "modprobe sch_netem && echo there")).toBe("there");
    expect(await reaches("exec-2", "exec-1")).toBe(true);
  });

  test("where processors are shared, it counts as a program of this machine, and the containers as another", () => {
    const group = new LabPlace(lab().name).controlGroup;
    const [count, other] = hierarchies()
      .flatMap((top) => ["cpu.shares", "cpu.weight"].map((name) => join(top, group, name)))
      .filter((file) => existsSync(file))
      .map((file) => Number(readFileSync(file, "utf8")));
    // Either one, by the version of control groups; none where processors are not shared by group.
    if (count !== undefined) expect([2_048, 200]).toContain(count);
    expect(other).toBeUndefined();
  });

  test("standard input, both streams and the exit code of a command come through", async () => {
    const result = await lab().exec("exec-1", ["sh", "-c", "cat; echo wrong >&2; exit 7"], {
      input: "given",
    });
    expect(result).toEqual({ code: 7, stdout: "given", stderr: "wrong\n" });
  });

  test("a command that is too slow is ended", async () => {
    const result = await lab().exec("exec-1", ["sleep", "600"], { deadlineMs: 500 });
    expect(result.code).toBeNull();
    await until(async () => (await lab().exec("exec-1", ["pgrep", "-x", "sleep"])).code === 1, {
      what: "the slow command to be gone",
    });
  });

  test("its clock is stepped, and no other", async () => {
    await lab().clock("exec-1", 300);
    const [itself, other] = [await offsetOf("exec-1"), await offsetOf("exec-2")];
    expect(itself).toBeGreaterThan(270);
    expect(itself).toBeLessThan(310);
    expect(Math.abs(other)).toBeLessThan(2);
    await lab().clock("exec-1", 0);
    expect(Math.abs(await offsetOf("exec-1"))).toBeLessThan(30);
  });

  test("cut off it hears nobody, and commands still run in it", async () => {
    await lab().cut("exec-1");
    expect(await reaches("exec-2", "exec-1")).toBe(false);
    expect(await shell("exec-1", "hostname")).toBe("exec-1");
    await lab().heal("exec-1");
    expect(await reaches("exec-2", "exec-1")).toBe(true);
  });

  test("options of mount points and words of the kernel command line are set", async () => {
    // A machine of a lab is started by its kernel; what stands in for the boot loader's tool writes what that would.
    await shell(
      "exec-1",
      `mkdir -p /boot/grub /etc/default/grub.d && printf '%s\\n' '#!/bin/sh' 'for f in /etc/default/grub.d/*.cfg; do [ ! -e "$f" ] || . "$f"; done' 'echo "linux /vmlinuz$GRUB_CMDLINE_LINUX" >/boot/grub/grub.cfg' >/usr/sbin/update-grub && chmod 755 /usr/sbin/update-grub && update-grub`,
    );
    before = await shell("exec-1", everything);
    const connect = await connectTo(lab(), "exec-1");
    expect(await applyHost(await plan(), { connect, confirmSeconds: 300 })).toMatchObject({
      result: "committed",
      unknowns: [],
      beyondHost: [],
    });
    expect(await shell("exec-1", `${mounted}; tail -n 1 /boot/grub/grub.cfg`)).toMatch(
      /^rw,relatime\S*\nro,nosuid,\S*\nlinux \/vmlinuz mitigations=off nosmt$/,
    );
    const again = await plan();
    expect(hasChanges(again)).toBe(false);
    // The one word is there since this boot, the other one needs the next; and that is no yes.
    expect(verdictOf(again)).toMatchObject({
      answer: "no",
      right: 3,
      deviations: [{ id: "kernel-parameter:nosmt", because: "takes effect at the next boot" }],
    });
  });

  test("power cut and start: its disk stays, what was not written is lost, the boot is another", async () => {
    const boot = await shell("exec-1", "echo kept > /srv/kept; sync; cat /proc/sys/kernel/random/boot_id");
    await shell("exec-1", "echo lost > /srv/lost");
    await lab().powerOff("exec-1");
    expect(
      lab()
        .status()
        .map((host) => [host.name, host.power]),
    ).toEqual([
      ["exec-1", "off"],
      ["exec-2", "on"],
    ]);
    await expect(lab().exec("exec-1", ["true"])).rejects.toMatchObject({ code: "E_LAB_HOST_OFF" });
    await lab().powerOn("exec-1");
    expect(
      await shell("exec-1", "cat /srv/kept; cat /srv/lost 2>/dev/null | head -c 100 | tr -d '\\0'"),
    ).toBe("kept");
    expect(await shell("exec-1", "cat /proc/sys/kernel/random/boot_id")).not.toBe(boot);
    // By /etc/fstab now, and no longer by the remount of the change.
    expect(await shell("exec-1", mounted)).toMatch(/^rw,relatime\S*\nro,nosuid/);
    expect(await reaches("exec-2", "exec-1")).toBe(true);
    const wayBack = await overNew((remote) => rollbackHost(remote));
    expect(wayBack).toMatchObject({ result: "rolled-back", reason: expect.stringContaining("0 problem(s)") });
    expect(await shell("exec-1", everything)).toBe(before);
  });
});

test("only with a virtual machine can its clock and kernel be looked at", () => {
  const named = capabilities(undefined, ["exec-1"]);
  expect(named.find((one) => one.name === "kernel-clock")).toMatchObject({ verdict: "available" });
  expect(named.find((one) => one.name === "power-supplies")).toMatchObject({ verdict: "unknown" });
  expect(capabilities(undefined).find((one) => one.name === "kernel-clock")).toMatchObject({
    verdict: "unknown",
  });
});
