/**
 * Takes a lab away, from whatever point it had reached: by the names that all
 * its parts have, not by what it remembers. Doing it twice does no harm.
 */
import { existsSync, readdirSync, readFileSync, readlinkSync, rmdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { EscapementError } from "../../base/errors.ts";
import { monotonicMs, sleep } from "../../base/monotonic.ts";
import { processesWith } from "../strays.ts";
import { releaseRanges } from "./address-range.ts";
import { processesIn, removeGroup, topGroups } from "./control-group.ts";
import { giveRoomBack } from "./kernel-room.ts";
import { LabPlace, labMark, labPrefix, labsFolder, namespaceFile } from "./lab-place.ts";
import { findState } from "./lab-state.ts";
import { removeOutput } from "./output-files.ts";
import { isAlive } from "./process-identity.ts";
import { runProgram } from "./run-program.ts";

const nspawnFolder = "/run/systemd/nspawn";

/** @throws E_LAB_BUSY while another process puts it up, E_LAB_STEP when something cannot be removed */
export async function takeDown(place: LabPlace): Promise<void> {
  const state = findState(place);
  if (state?.phase === "starting") {
    const pid = Number(state.starter.split(" ")[0]);
    if (pid !== process.pid && isAlive(state.starter))
      throw new EscapementError("E_LAB_BUSY", { name: place.name, pid });
  }
  await endProcesses(place);
  await runProgram(["ip", "link", "delete", place.uplink]);
  for (const namespace of namespacesOf(place)) await runProgram(["ip", "netns", "delete", namespace]);
  forgetMachines(place);
  await unmountBelow(place);
  await removeGroups(place);
  releaseRanges(place.name);
  const left = state && removeOutput(state.outputFolder);
  rmSync(place.folder, { recursive: true, force: true });
  giveRoomBack();
  removeWhenEmpty(labsFolder);
  // The lab is gone all the same: files that nobody may remove hold up nothing.
  if (left !== undefined)
    throw new EscapementError("E_LAB_STEP", { step: "removing its inventory and keys", reason: left });
}

/** Every lab of which something is there: its folder, a namespace or a control group. */
export function labNames(): string[] {
  const folders = list(labsFolder).filter((name) => !name.startsWith("."));
  const prefixed = [...list("/run/netns"), ...topGroups()]
    .filter((name) => name.startsWith(labPrefix))
    .map((name) => name.slice(labPrefix.length).split(".")[0] ?? "");
  return [...new Set([...folders, ...prefixed])].filter((name) => name !== "").sort();
}

/** Takes down every lab that belonged to a process which has ended. @returns their names */
export async function takeDownAbandoned(): Promise<string[]> {
  const gone: string[] = [];
  for (const name of labNames()) {
    const place = new LabPlace(name);
    const state = findState(place);
    if (!state?.owned || isAlive(state.starter)) continue;
    await takeDown(place);
    gone.push(name);
  }
  return gone;
}

async function endProcesses(place: LabPlace): Promise<void> {
  const deadline = monotonicMs() + 15_000;
  for (;;) {
    const left = processesOf(place);
    if (left.length === 0) return;
    if (monotonicMs() > deadline)
      throw new EscapementError("E_LAB_STEP", {
        step: `ending the processes of lab ${place.name}`,
        reason: `these survive: ${left.join(" ")}`,
      });
    for (const pid of left) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It ended a moment ago.
      }
    }
    await sleep(30);
  }
}

/** In its control groups, in its namespaces, or marked by our environment. Never ourselves. */
export function processesOf(place: LabPlace): number[] {
  const inodes = new Set(namespacesOf(place).map((name) => statSync(namespaceFile(name)).ino));
  const inNamespaces = list("/proc").filter((pid) => {
    if (!/^\d+$/.test(pid) || inodes.size === 0) return false;
    const inode = /^net:\[(\d+)\]$/.exec(readLink(`/proc/${pid}/ns/net`))?.[1];
    return inode !== undefined && inodes.has(Number(inode));
  });
  const pids = [
    ...processesIn(place.controlGroup),
    ...inNamespaces.map(Number),
    ...processesWith([`${labMark}=${place.name}`]).filter((pid) => marked(pid, place)),
  ];
  return [...new Set(pids)].filter((pid) => pid !== process.pid);
}

/** The mark as a whole: `a` is also the beginning of `a-b`. */
function marked(pid: number, place: LabPlace): boolean {
  return read(`/proc/${pid}/environ`).split("\0").includes(`${labMark}=${place.name}`);
}

function namespacesOf(place: LabPlace): string[] {
  return list("/run/netns").filter(
    (name) => name === place.namespace || name.startsWith(`${place.namespace}.`),
  );
}

/** A killed systemd-nspawn leaves a folder and a lock behind. */
function forgetMachines(place: LabPlace): void {
  for (const name of list(join(nspawnFolder, "propagate"))) {
    if (name.startsWith(`${place.name}.`))
      rmSync(join(nspawnFolder, "propagate", name), { recursive: true, force: true });
  }
  for (const host of list(join(place.folder, "hosts"))) {
    if (!existsSync(place.hostRoot(host))) continue;
    const { dev, ino } = statSync(place.hostRoot(host));
    rmSync(join(nspawnFolder, "locks", `inode-${dev}:${ino}`), { force: true });
  }
  for (const name of ["propagate", "locks", "."]) removeWhenEmpty(join(nspawnFolder, name));
}

async function unmountBelow(place: LabPlace): Promise<void> {
  // The last mounted first: a disk is below the root that stands on it.
  for (const path of mountsBelow(place).reverse()) {
    const result = await runProgram(["umount", path]);
    if (result.code !== 0) await runProgram(["umount", "--lazy", path]);
  }
  const left = mountsBelow(place);
  if (left.length > 0)
    throw new EscapementError("E_LAB_STEP", {
      step: `unmounting the disks of lab ${place.name}`,
      reason: `still mounted: ${left.join(" ")}`,
    });
}

function mountsBelow(place: LabPlace): string[] {
  return read("/proc/self/mountinfo")
    .split("\n")
    .map((line) => line.split(" ")[4] ?? "")
    .filter((path) => path.startsWith(`${place.folder}/`));
}

async function removeGroups(place: LabPlace): Promise<void> {
  const deadline = monotonicMs() + 10_000;
  while (!removeGroup(place.controlGroup)) {
    if (monotonicMs() > deadline)
      throw new EscapementError("E_LAB_STEP", {
        step: `removing control group ${place.controlGroup}`,
        reason: "it is still in use",
      });
    await sleep(30);
  }
}

function removeWhenEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // Something else is in it, or it was never there.
  }
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, "latin1");
  } catch {
    return "";
  }
}

function readLink(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}
