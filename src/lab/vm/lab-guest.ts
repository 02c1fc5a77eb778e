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
import type { LabKeys } from "../hosts/host-files.ts";
import type { LabPlace } from "../hosts/lab-place.ts";
import { inNamespace } from "../hosts/lab-place.ts";
import type { LabHost, LabState } from "../hosts/lab-state.ts";
import { isAlive, processIdentity } from "../hosts/process-identity.ts";
import { mustRun, type ProgramOptions, type ProgramResult, runProgram } from "../hosts/run-program.ts";
import { keptState } from "./golden-guest.ts";
import { agentAnswers, guestClockOffsetMs, runInGuest } from "./guest-agent.ts";
import { personaliseGuest } from "./guest-identity.ts";
import { machineCommand } from "./guest-machine.ts";

/** An emulated machine that boots from its disk on a busy host. */
const bootLimitMs = 6 * 60_000;

/** From nothing to a machine that answers by ssh. @returns its line for known_hosts. @throws E_LAB_STEP */
export async function bringUpGuest(
  place: LabPlace,
  state: LabState,
  host: LabHost,
  keys: LabKeys,
  signal?: AbortSignal,
): Promise<string> {
  const { golden } = planOf(state);
  mkdirSync(place.hostFolder(host.name), { recursive: true, mode: 0o700 });
  // Its own disk: writes go there and nowhere else.
  cpSync(golden, file(place, host.name, "disk.qcow2"));
  await startGuest(place, state, host, { kept: true });
  await waitForGuest(place, host, signal, "agent");
  const run = (argv: readonly string[], options: ProgramOptions) =>
    runOnGuest(place, host.name, argv, options);
  const line = await personaliseGuest(state, host, keys, run, file(place, host.name, "host-key"));
  await waitForGuest(place, host, signal);
  await setGuestClock(place, host.name, 0);
  return line;
}

/** Starts a machine that is off, from its own disk. */
export async function powerOnGuest(place: LabPlace, state: LabState, host: LabHost): Promise<void> {
  if (guestRuns(place, host.name)) return;
  await killGuest(place, host);
  await startGuest(place, state, host, { kept: false });
  await waitForGuest(place, host);
}

function planOf(state: LabState): NonNullable<LabState["virtual"]> {
  if (state.virtual) return state.virtual;
  throw new EscapementError("E_LAB_TIER", {
    tier: "vm",
    reason: "this lab was put up without virtual machines",
    hint: "name them in lab up --virtual",
  });
}

/** Plugs the machine into the lab's bridge and switches it on. @param kept from the kept state, the first time */
async function startGuest(
  place: LabPlace,
  state: LabState,
  host: LabHost,
  options: { readonly kept: boolean },
): Promise<void> {
  const inside = ["ip", "-n", place.namespace];
  await mustRun([...inside, "tuntap", "add", "dev", host.port, "mode", "tap"]);
  await mustRun([...inside, "link", "set", host.port, "master", "br0", "up"]);
  const { image, accelerator } = planOf(state);
  const command = machineCommand({
    image,
    accelerator,
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
  const machines = state.hosts.filter(({ machine }) => machine === "virtual").length;
  // A group counts as one program, or all machines of a lab together would wait for each other's turn.
  const script = `${enterScript(group, machines + 1)}\nexec "$@"`;
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
async function waitForGuest(
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

/**
 * Sets the machine's clock to a time that is `offsetSeconds` off. A running chronyd may well mend it. By as
 * much as it is wrong, however long the program that does it takes to start: below a second chronyd
 * would not step either, and whoever waits for it would wait for half an hour.
 */
export async function setGuestClock(place: LabPlace, host: string, offsetSeconds: number): Promise<void> {
  const wrongMs = await guestClockOffsetMs(file(place, host, "agent"));
  const program =
    "import sys, time; time.clock_settime(time.CLOCK_REALTIME, time.time() + float(sys.argv[1]))";
  const step = (offsetSeconds - wrongMs / 1_000).toFixed(6);
  const { code, stderr } = await runOnGuest(place, host, ["python3", "-c", program, step]);
  if (code !== 0)
    throw new EscapementError("E_LAB_STEP", { step: `setting the clock of ${host}`, reason: stderr.trim() });
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
