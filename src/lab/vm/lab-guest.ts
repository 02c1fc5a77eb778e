/**
 * A host of a lab that is a virtual machine: a kernel and a clock of its own, on
 * the same bridge as every other host of the lab.
 *
 *   off ──start from the kept state──▶ booted ──made itself──▶ on ──quit──▶ off
 *    └────────── power on again: boots from its own disk ──────▶ on
 */
import { spawn } from "node:child_process";
import {
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { EscapementError } from "../../base/errors.ts";
import { monotonicMs, sleep } from "../../base/monotonic.ts";
import { enterScript } from "../hosts/control-group.ts";
import type { LabPlace } from "../hosts/lab-place.ts";
import { inNamespace } from "../hosts/lab-place.ts";
import type { LabHost, LabState } from "../hosts/lab-state.ts";
import { isAlive, processIdentity } from "../hosts/process-identity.ts";
import { mustRun, type ProgramOptions, type ProgramResult, runProgram } from "../hosts/run-program.ts";
import type { Accelerator } from "./accelerator.ts";
import { keptState } from "./golden-guest.ts";
import { agentAnswers, runInGuest } from "./guest-agent.ts";
import { machineCommand } from "./guest-machine.ts";
import type { VmImage } from "./vm-image.ts";

/** An emulated machine that boots from its disk on a busy host. */
const bootLimitMs = 6 * 60_000;

export interface GuestPlan {
  readonly image: VmImage;
  readonly accelerator: Accelerator;
}

/** Puts the machine's own disk in its place; writes go there and nowhere else. */
export function makeDisk(place: LabPlace, host: string, golden: string): void {
  mkdirSync(place.hostFolder(host), { recursive: true, mode: 0o700 });
  cpSync(golden, file(place, host, "disk.qcow2"));
}

/** Plugs the machine into the lab's bridge and switches it on. @param kept from the kept state, the first time */
export async function startGuest(
  place: LabPlace,
  host: LabHost,
  plan: GuestPlan,
  options: { readonly kept: boolean },
): Promise<void> {
  const inside = ["ip", "-n", place.namespace];
  await mustRun([...inside, "tuntap", "add", "dev", host.port, "mode", "tap"]);
  await mustRun([...inside, "link", "set", host.port, "master", "br0", "up"]);
  const command = machineCommand({
    ...plan,
    disk: "disk.qcow2",
    tap: host.port,
    monitorSocket: "monitor",
    agentSocket: "agent",
    consoleFile: "console.log",
    ...(options.kept ? { keptState } : {}),
  });
  for (const name of ["agent", "monitor"]) rmSync(file(place, host.name, name), { force: true });
  const log = openSync(file(place, host.name, "machine.log"), "a", 0o600);
  const group = `${place.controlGroup}/${host.name}`;
  const [program = "", ...args] = inNamespace(place.namespace);
  const script = `${enterScript(group)}\nexec "$@"`;
  const child = spawn("sh", ["-c", script, "sh", program, ...args, ...command], {
    stdio: ["ignore", log, log],
    detached: true,
    cwd: place.hostFolder(host.name),
    env: { PATH: process.env.PATH, ...place.mark },
  });
  closeSync(log);
  child.on("error", () => {});
  child.unref();
  if (child.pid !== undefined)
    writeFileSync(file(place, host.name, "process"), processIdentity(child.pid) ?? `${child.pid} ?`);
}

export function guestRuns(place: LabPlace, host: string): boolean {
  return isAlive(read(file(place, host, "process")));
}

/** Waits for the agent, and where the machine has a name already, for sshd. @throws E_LAB_STEP */
export async function waitForGuest(
  place: LabPlace,
  host: LabHost,
  signal?: AbortSignal,
  ready: "agent" | "ssh" = "ssh",
): Promise<void> {
  const deadline = monotonicMs() + bootLimitMs;
  const agent = file(place, host.name, "agent");
  while (monotonicMs() < deadline) {
    signal?.throwIfAborted();
    if (!guestRuns(place, host.name)) break;
    if (existsSync(agent) && (await agentAnswers(agent, 5_000))) {
      if (ready === "agent") return;
      const { code } = await runInGuest(agent, [
        "sh",
        "-c",
        "[ ! -e /run/nologin ] && systemctl is-active --quiet ssh",
      ]);
      if (code === 0) return;
    }
    await sleep(100);
  }
  const said = read(file(place, host.name, "machine.log")) || read(file(place, host.name, "console.log"));
  throw new EscapementError("E_LAB_STEP", {
    step: `starting virtual machine ${host.name}`,
    reason: `it did not come up: ${said.trim().split("\n").slice(-3).join("; ") || "its console is empty"}`,
  });
}

/** A program inside the machine, its network cut or not. @throws E_LAB_HOST_OFF */
export async function runOnGuest(
  place: LabPlace,
  host: string,
  argv: readonly string[],
  options?: ProgramOptions,
): Promise<ProgramResult> {
  if (!guestRuns(place, host)) throw new EscapementError("E_LAB_HOST_OFF", { host });
  return runInGuest(file(place, host, "agent"), argv, options);
}

/** Pulls the plug: what the machine's kernel had not written is lost. */
export async function killGuest(place: LabPlace, host: LabHost): Promise<void> {
  const identity = read(file(place, host.name, "process"));
  const deadline = monotonicMs() + 10_000;
  while (isAlive(identity)) {
    process.kill(Number(identity.split(" ")[0]), "SIGKILL");
    if (monotonicMs() > deadline)
      throw new EscapementError("E_LAB_STEP", {
        step: `powering off ${host.name}`,
        reason: "its process survives",
      });
    await sleep(20);
  }
  rmSync(file(place, host.name, "process"), { force: true });
  // The tap device would wait for its machine; the next one makes its own.
  await runProgram(["ip", "-n", place.namespace, "link", "delete", host.port]);
}

/** Sets the machine's clock to a time that is `offsetSeconds` off. A running chronyd may well mend it. */
export async function setGuestClock(place: LabPlace, host: string, offsetSeconds: number): Promise<void> {
  const epoch = (Date.now() / 1_000 + offsetSeconds).toFixed(3);
  const { code, stderr } = await runOnGuest(place, host, ["date", "-s", `@${epoch}`]);
  if (code !== 0)
    throw new EscapementError("E_LAB_STEP", { step: `setting the clock of ${host}`, reason: stderr.trim() });
}

/** What makes this machine different from the one it was copied from. @returns its line for known_hosts */
export async function personaliseGuest(
  place: LabPlace,
  state: LabState,
  host: LabHost,
  keys: { readonly authorizedKey: string; readonly opsPassword: string },
): Promise<string> {
  const key = file(place, host.name, "host-key");
  rmSync(key, { force: true });
  rmSync(`${key}.pub`, { force: true });
  await mustRun(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", host.name, "-f", key]);
  const publicKey = readFileSync(`${key}.pub`, "utf8").trim();
  const hosts = state.hosts.map((one) => `${one.address} ${one.name}`).join("\n");
  const script = `set -e
date -s @${(Date.now() / 1_000).toFixed(3)} >/dev/null
printf '%s\\n' '${host.name}' > /etc/hostname
hostname '${host.name}'
cat > /etc/hosts <<'END'
127.0.0.1 localhost
::1 localhost ip6-localhost ip6-loopback
${hosts}
END
tr -d - < /proc/sys/kernel/random/uuid > /etc/machine-id
printf '# The lab has no name server; see hosts(5).\\n' > /etc/resolv.conf
cat > /etc/systemd/system/lab-network.service <<'END'
[Unit]
DefaultDependencies=no
Before=network.target
After=systemd-udevd.service local-fs.target
Wants=network.target
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/sbin/ip link set eth0 address ${hardwareAddress(host.address)}
ExecStart=/sbin/ip address replace ${host.address}/24 dev eth0
ExecStart=/sbin/ip link set eth0 up
ExecStart=/sbin/ip route replace default via ${state.gateway}
[Install]
WantedBy=multi-user.target
END
mkdir -p /root/.ssh /home/ops/.ssh && chmod 700 /root/.ssh /home/ops/.ssh
for d in /root /home/ops; do printf '%s\\n' '${keys.authorizedKey}' > $d/.ssh/authorized_keys; chmod 600 $d/.ssh/authorized_keys; done
chown -R ops:ops /home/ops/.ssh
printf 'ops:%s\\n' '${keys.opsPassword}' | chpasswd
(umask 077; cat > /etc/ssh/ssh_host_ed25519_key <<'END'
${readFileSync(key, "utf8").trim()}
END
)
printf '%s\\n' '${publicKey}' > /etc/ssh/ssh_host_ed25519_key.pub
systemctl daemon-reload
systemctl enable --quiet lab-network.service
systemctl start lab-network.service
systemctl restart systemd-journald ssh
`;
  const { code, stderr } = await runOnGuest(place, host.name, ["sh", "-s"], {
    input: script,
    deadlineMs: 120_000,
  });
  if (code !== 0)
    throw new EscapementError("E_LAB_STEP", {
      step: `giving virtual machine ${host.name} its name`,
      reason: stderr.trim().split("\n").slice(-3).join("; "),
    });
  return `${host.address} ${publicKey.split(" ").slice(0, 2).join(" ")}`;
}

function hardwareAddress(address: string): string {
  return ["02", "e5", ...address.split(".").map((part) => Number(part).toString(16).padStart(2, "0"))].join(
    ":",
  );
}

function file(place: LabPlace, host: string, name: string): string {
  return join(place.hostFolder(host), name);
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
