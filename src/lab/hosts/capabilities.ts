/**
 * What the hosts tier can show on this machine, and what only a virtual machine
 * or a real one can. What it cannot is unknown, never a pass.
 */
import { existsSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { hierarchies } from "./control-group.ts";
import { runProgram } from "./run-program.ts";

export type CapabilityVerdict = "available" | "unknown";

export interface Capability {
  readonly name: string;
  readonly verdict: CapabilityVerdict;
  /** What it takes, where the verdict is unknown. */
  readonly needs?: "needs-vm" | "needs-metal" | "needs-setup";
  /** One sentence. */
  readonly reason: string;
}

/** Programs that the tier starts, and the Debian package of each. */
const programs: Readonly<Record<string, string>> = {
  "apt-ftparchive": "apt-utils",
  "dpkg-deb": "dpkg",
  debootstrap: "debootstrap",
  ip: "iproute2",
  nft: "nftables",
  nsenter: "util-linux",
  "ssh-keygen": "openssh-client",
  "systemd-nspawn": "systemd-container",
};

/** True of every host of this tier, once the tier is there at all. */
const can: Readonly<Record<string, string>> = {
  units: "systemd runs every unit, timer and scope of a host",
  ssh: "every host has its own sshd, host key and accounts",
  packages: "apt installs from the local package source",
  network: "every host has its own addresses, routes, nftables and VRRP",
  "network-cut": "the bridge drops a host's packets, one way or both",
  "power-cut": "all of a host's processes are killed at once, with its cable out",
  "boot-id": "a host has a new one after every start",
  "memory-limit": "MemoryMax holds; version 1 control groups show exit code 137, not oom-kill",
  "task-limit": "TasksMax holds",
  "unit-clock": "a library shifts the wall clock of every unit of a host",
};

/** Never shown by this tier. */
const cannot: readonly (readonly [string, "needs-vm" | "needs-metal", string])[] = [
  ["kernel-clock", "needs-vm", "hosts share this machine's clock; clock_settime is refused"],
  ["systemd-clock", "needs-vm", "systemd's own clock, so OnCalendar timers, and ssh logins are not shifted"],
  ["chronyd-steers", "needs-vm", "chronyd runs with -x: it measures, and sets no clock"],
  ["kernel-settings", "needs-vm", "sysctl outside of net.* is shared and read-only"],
  ["kernel-modules", "needs-vm", "hosts share this machine's kernel"],
  [
    "packet-delay",
    "needs-vm",
    "netem is a kernel module that may not be there; packets are dropped, not delayed",
  ],
  ["write-loss", "needs-vm", "what a host wrote and did not sync survives a power cut"],
  ["disks", "needs-vm", "a host has one file system in memory, and no block device"],
  ["watchdog", "needs-vm", "there is no watchdog device"],
  ["boot-loader", "needs-vm", "a host boots no kernel of its own"],
  ["hardware-facts", "needs-metal", "hosts show this machine's processor and memory, and no firmware"],
  ["power-loss-protection", "needs-metal", "only real disks and controllers have it"],
  ["power-supplies", "needs-metal", "only real machines have them"],
];

/** Why the tier cannot be had here at all; undefined when it can. Quick: nothing is started for long. */
export async function whyNoHosts(): Promise<string | undefined> {
  if (process.platform !== "linux") return "hosts need Linux";
  if (process.getuid?.() !== 0) return "hosts need root";
  const missing = Object.keys(programs).filter((program) => !installed(program));
  if (missing.length > 0)
    return `missing: ${missing.map((name) => `${name} (package ${programs[name]})`).join(", ")}`;
  if (hierarchies().length === 0) return "no control groups are mounted at /sys/fs/cgroup";
  if (!readFileSync("/proc/filesystems", "utf8").includes("overlay"))
    return "the kernel has no overlay file system";
  return probeNamespaces();
}

/** Makes and removes, in a namespace that nobody sees, all that a lab's network needs. */
async function probeNamespaces(): Promise<string | undefined> {
  const script = [
    "ip link add br0 type bridge",
    "ip link add p1 type veth peer name p2",
    "ip link set p1 master br0",
    "nft 'add table bridge lab; add chain bridge lab f { type filter hook forward priority 0; }'",
  ].join(" && ");
  const result = await runProgram(["unshare", "--net", "--mount", "sh", "-c", script], {
    deadlineMs: 10_000,
  });
  if (result.code === 0) return undefined;
  return `the kernel allows no private network here: ${result.stderr.trim().split("\n")[0] ?? "no reason given"}`;
}

/** What a virtual machine of the lab shows that a container does not. */
const virtualCan: Readonly<Record<string, string>> = {
  "kernel-clock": "the wall clock is the machine's own",
  "systemd-clock": "the wall clock is the machine's own",
  "chronyd-steers": "chronyd sets and slews the machine's clock",
  "kernel-settings": "the kernel is the machine's own",
  "kernel-modules": "the kernel is the machine's own",
  "packet-delay": "the machine's kernel has netem",
  "write-loss": "what the machine's kernel had not written is lost with its power",
  disks: "the machine has a block device of its own",
};

/**
 * @param reason why there is no hosts tier, from {@link whyNoHosts}
 * @param virtual names of the hosts that are virtual machines
 */
export function capabilities(reason: string | undefined, virtual: readonly string[] = []): Capability[] {
  const here = Object.entries(can).map(
    ([name, what]): Capability =>
      reason === undefined
        ? { name, verdict: "available", reason: what }
        : { name, verdict: "unknown", needs: "needs-setup", reason },
  );
  const elsewhere = cannot.map(([name, needs, why]): Capability => {
    const shown = virtualCan[name];
    return shown !== undefined && virtual.length > 0
      ? { name, verdict: "available", reason: `on ${virtual.join(", ")}: ${shown}` }
      : { name, verdict: "unknown", needs, reason: why };
  });
  return [...here, ...elsewhere];
}

function installed(program: string): boolean {
  const folders = [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin", "/sbin"];
  return folders.some((folder) => folder !== "" && existsSync(join(folder, program)));
}
