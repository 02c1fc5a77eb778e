/**
 * One host: systemd, started by systemd-nspawn on a layer of its own over the
 * shared root file system, in its own namespaces and control group.
 *
 *   off ──start──▶ booting ──sshd answers──▶ on ──kill / shutdown inside──▶ off
 *
 * Its disk is a tmpfs below the lab's folder; it stays through a power cut.
 */
import { spawn } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { EscapementError } from "../../base/errors.ts";
import { monotonicMs, sleep } from "../../base/monotonic.ts";
import { enterScript, processesIn } from "./control-group.ts";
import type { LabPlace } from "./lab-place.ts";
import { namespaceFile } from "./lab-place.ts";
import type { LabHost } from "./lab-state.ts";
import { isAlive, processIdentity } from "./process-identity.ts";
import { initPath, packagesMount } from "./root-image.ts";
import { mustRun } from "./run-program.ts";

/** How much a host may write; only what it does write takes memory. */
const diskBytes = 2 * 1024 ** 3;

/** A host that does not answer by then will not, even where two labs boot on two cores that have other work. */
const bootLimitMs = 300_000;

/** systemd-nspawn ends with 133 when the host has restarted itself; with anything else it is off. */
const runScript = `while systemd-nspawn "$@"; [ $? = 133 ]; do :; done`;

/** Mounts the layers that make the host's root. */
export async function mountDisk(place: LabPlace, host: string, layers: readonly string[]): Promise<void> {
  const disk = join(place.hostFolder(host), "disk");
  for (const path of [disk, place.hostRoot(host)]) mkdirSync(path, { recursive: true, mode: 0o755 });
  await mustRun(["mount", "-t", "tmpfs", "-o", `size=${diskBytes},mode=755`, "escapement-lab", disk], {
    environment: place.mark,
  });
  for (const name of ["upper", "work"]) mkdirSync(join(disk, name), { mode: 0o755 });
  const options = `lowerdir=${layers.join(":")},upperdir=${disk}/upper,workdir=${disk}/work`;
  await mustRun(["mount", "-t", "overlay", "-o", options, "escapement-lab", place.hostRoot(host)], {
    step: `mounting the disk of ${host}`,
    environment: place.mark,
  });
}

/** Switches the host on; it boots by itself from here. */
export function startHost(place: LabPlace, host: string, pool: string): void {
  const arguments_ = [
    "--quiet",
    "--register=no",
    "--keep-unit",
    "--settings=no",
    `--directory=${place.hostRoot(host)}`,
    `--machine=${place.machine(host)}`,
    `--hostname=${host}`,
    `--network-namespace-path=${namespaceFile(place.hostNamespace(host))}`,
    "--capability=CAP_NET_ADMIN,CAP_NET_RAW",
    "--kill-signal=SIGRTMIN+3",
    "--resolv-conf=off",
    "--timezone=off",
    "--link-journal=no",
    `--bind-ro=${pool}:${packagesMount}`,
    initPath,
  ];
  const script = `${enterScript(hostGroup(place, host))}\n${runScript}`;
  const log = openSync(consoleFile(place, host), "a", 0o600);
  const child = spawn("sh", ["-c", script, "sh", ...arguments_], {
    stdio: ["ignore", log, log],
    detached: true,
    cwd: "/",
    // Settings of its own network are a host's to change, as on a real machine.
    env: { PATH: process.env.PATH, SYSTEMD_NSPAWN_API_VFS_WRITABLE: "network", ...place.mark },
  });
  closeSync(log);
  child.on("error", () => {});
  child.unref();
  if (child.pid !== undefined)
    writeFileSync(processFile(place, host), processIdentity(child.pid) ?? `${child.pid} ?`);
}

/** The host's first process as this machine sees it; undefined while the host is off. */
export function leaderOf(place: LabPlace, host: string): number | undefined {
  const identity = read(processFile(place, host));
  if (!isAlive(identity)) return undefined;
  // Our shell, its systemd-nspawn, and that one's child.
  const nspawn = firstChild(Number(identity.split(" ")[0]));
  return nspawn === undefined ? undefined : firstChild(nspawn);
}

/** Waits until sshd greets and users may log in. @throws E_LAB_STEP with the end of the host's console */
export async function waitForHost(place: LabPlace, host: LabHost, signal?: AbortSignal): Promise<void> {
  const deadline = monotonicMs() + bootLimitMs;
  while (monotonicMs() < deadline) {
    signal?.throwIfAborted();
    if (!isAlive(read(processFile(place, host.name)))) break;
    if (mayLogIn(place, host.name) && (await greets(host.address))) return;
    await sleep(50);
  }
  const said = read(consoleFile(place, host.name)).trim().split("\n").slice(-3).join("; ");
  throw new EscapementError("E_LAB_STEP", {
    step: `starting ${host.name}`,
    reason: `it did not come up: ${said || "its console is empty"}`,
  });
}

/** Kills everything of the host in one blow, as pulling its plug would. @throws E_LAB_STEP when something survives */
export async function killHost(place: LabPlace, host: string): Promise<void> {
  const group = hostGroup(place, host);
  const deadline = monotonicMs() + 10_000;
  for (;;) {
    // With the host's first process the kernel kills all that the host ever started.
    const leader = leaderOf(place, host);
    const own = Number(read(processFile(place, host)).split(" ")[0]);
    const left = processesIn(group);
    if (left.includes(own)) kill(own);
    if (leader !== undefined) kill(leader);
    if (leader === undefined) for (const pid of left) kill(pid);
    if (left.length === 0) break;
    if (monotonicMs() > deadline)
      throw new EscapementError("E_LAB_STEP", {
        step: `powering off ${host}`,
        reason: `processes survive: ${left.join(" ")}`,
      });
    await sleep(20);
  }
  rmSync(processFile(place, host), { force: true });
}

/** The beginning of a command that runs inside the host, with the network cut or not. @throws E_LAB_HOST_OFF */
export function insideHost(place: LabPlace, host: string): string[] {
  const leader = leaderOf(place, host);
  if (leader === undefined) throw new EscapementError("E_LAB_HOST_OFF", { host });
  return [
    "nsenter",
    `--target=${leader}`,
    ...["--mount", "--uts", "--ipc", "--net", "--pid", "--cgroup", "--root", "--wd"],
    ...["env", "-i", "HOME=/root", "USER=root", "LOGNAME=root", "SHELL=/bin/bash", "LANG=C.UTF-8"],
    "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
  ];
}

export function hostGroup(place: LabPlace, host: string): string {
  return `${place.controlGroup}/${host}`;
}

function processFile(place: LabPlace, host: string): string {
  return join(place.hostFolder(host), "process");
}

function consoleFile(place: LabPlace, host: string): string {
  return join(place.hostFolder(host), "console.log");
}

/** systemd lets nobody but root in until the boot is over; until then a marker file says so. */
function mayLogIn(place: LabPlace, host: string): boolean {
  const leader = leaderOf(place, host);
  return leader !== undefined && !existsSync(join("/proc", String(leader), "root", "run/nologin"));
}

function greets(address: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: address, port: 22, timeout: 1_000 });
    const end = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.once("data", (data) => end(data.toString("latin1").startsWith("SSH-2.0")));
    for (const event of ["timeout", "error", "close"]) socket.once(event, () => end(false));
  });
}

function firstChild(pid: number): number | undefined {
  const child = Number(read(`/proc/${pid}/task/${pid}/children`).trim().split(" ")[0]);
  return child > 0 ? child : undefined;
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It ended a moment ago.
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
