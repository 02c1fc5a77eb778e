/**
 * One virtual machine, booted once and kept as it stood when its boot was over:
 * every machine of a lab starts from there within a second instead of booting.
 */
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { EscapementError } from "../../base/errors.ts";
import { monotonicMs, sleep } from "../../base/monotonic.ts";
import { cached } from "../hosts/cache-entry.ts";
import { cacheKey } from "../hosts/root-image.ts";
import { mustRun } from "../hosts/run-program.ts";
import type { Accelerator } from "./accelerator.ts";
import { agentAnswers, runInGuest } from "./guest-agent.ts";
import { lineUp, machineCommand } from "./guest-machine.ts";
import { tellMachine } from "./machine-monitor.ts";
import type { VmImage } from "./vm-image.ts";

/** An emulated machine on a busy host. */
const bootLimitMs = 6 * 60_000;

/** The name of the kept state in the disk. */
export const keptState = "booted";

/** @returns the disk with the kept state, to be copied for each machine. @throws E_LAB_STEP */
export async function goldenGuest(image: VmImage, accelerator: Accelerator): Promise<string> {
  const version = (await mustRun(["qemu-system-x86_64", "--version"])).split("\n")[0];
  const key = cacheKey("golden", image.key, lineUp, accelerator, version);
  const folder = await cached(`vm-golden-${key}`, async (unfinished) => {
    const disk = join(unfinished, "disk.qcow2");
    await mustRun(["qemu-img", "create", "-q", "-f", "qcow2", "-b", image.disk, "-F", "raw", disk]);
    await bootAndKeep(image, accelerator, disk, unfinished);
  });
  return join(folder, "disk.qcow2");
}

async function bootAndKeep(
  image: VmImage,
  accelerator: Accelerator,
  disk: string,
  folder: string,
): Promise<void> {
  // Sockets have short names only, and the folder is renamed when all is done.
  const place = { monitorSocket: "monitor", agentSocket: "agent", consoleFile: "console" };
  const command = machineCommand({ image, accelerator, disk, tap: "golden", ...place });
  const script = 'ip tuntap add dev golden mode tap && ip link set golden up && exec "$@"';
  const child = spawn("unshare", ["--net", "sh", "-c", script, "sh", ...command], {
    cwd: folder,
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const agent = join(folder, place.agentSocket);
  try {
    const deadline = monotonicMs() + bootLimitMs;
    while (!(existsSync(agent) && (await agentAnswers(agent, 2_000)))) {
      if (child.exitCode !== null || monotonicMs() > deadline) throw noBoot(said, join(folder, "console"));
      await sleep(200);
    }
    // The boot is over when nothing is left to be started; what failed for want of an address is started anew later.
    await runInGuest(agent, ["systemctl", "is-system-running", "--wait"], { deadlineMs: bootLimitMs });
    await runInGuest(agent, ["sh", "-c", "systemctl stop ssh; systemctl reset-failed; sync"]);
    await tellMachine(join(folder, place.monitorSocket), [`savevm ${keptState}`]);
    await tellMachine(join(folder, place.monitorSocket), ["quit"]).catch(() => {});
  } finally {
    child.kill("SIGKILL");
    await ended;
  }
}

function noBoot(said: string, consoleFile: string): EscapementError {
  const console = existsSync(consoleFile) ? readFileSync(consoleFile, "latin1").trim() : "";
  const last = (said.trim() || console).split("\n").slice(-3).join("; ");
  return new EscapementError("E_LAB_STEP", {
    step: "booting a virtual machine",
    reason: last || "it did not come up, and its console is empty",
  });
}
