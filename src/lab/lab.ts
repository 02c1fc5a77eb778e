/**
 * The seam between the commands of `escapement lab` and what a lab is made of.
 *
 *   lab up --tier process ──▶ ProcessLab ── socket ──▶ keeper ──▶ ProcessCluster
 *   lab up --tier hosts   ──▶ HostLab ─────────────────────────▶ containers
 *   lab up --tier vm      ──▶ HostLab, hosts with `machine: virtual` ──▶ virtual machines
 *
 * A lab records its tier where it keeps its state, and every later command finds
 * it by its name alone. What a tier cannot do ends with E_LAB_TIER and the reason.
 */
import { HostLab } from "./hosts/host-lab.ts";
import { LabPlace } from "./hosts/lab-place.ts";
import { listLabs } from "./hosts/list-labs.ts";
import { labNames, takeDown } from "./hosts/take-down.ts";
import { ProcessLab, processLabNames } from "./processes/process-lab.ts";

export interface LabCut {
  /** `receive`: nothing reaches it, while what it sends still arrives. Default: both. */
  readonly direction?: "both" | "receive";
  /** Only from these. Empty: from everybody. */
  readonly peers?: readonly string[];
}

/** One host of a lab, or one process that stands for a host. */
export interface LabHostStatus {
  readonly name: string;
  readonly address: string;
  readonly profile: string;
  readonly machine: "container" | "virtual" | "process";
  readonly power: "on" | "off";
  readonly clockOffsetSeconds: number;
  readonly cuts: readonly Required<LabCut>[];
}

export interface LabOverview {
  readonly name: string;
  readonly tier: "hosts" | "process";
  /** `unfinished`: it was killed while it was put up or taken down; `down` takes the rest away. */
  readonly condition: "up" | "starting" | "unfinished";
  readonly inventoryFile?: string;
  /** Of a lab of processes, for `--cluster`. */
  readonly clusterFile?: string;
  readonly hosts: readonly LabHostStatus[];
}

/** What the commands use. Every method throws E_LAB_HOST for a name the lab does not have. */
export interface Lab {
  readonly name: string;
  /** Runs a command inside a host with our own standard streams. @returns its exit code */
  attach(host: string, argv: readonly string[]): Promise<number>;
  cut(host: string, cut: LabCut): Promise<void>;
  /** Undoes the cuts of one host, or of all. */
  heal(host?: string): Promise<void>;
  powerOff(host: string): Promise<void>;
  /** Returns when it serves again. */
  powerOn(host: string): Promise<void>;
  clock(host: string, offsetSeconds: number): Promise<void>;
}

/** @throws E_LAB_MISSING */
export async function findLab(name: string): Promise<Lab> {
  return processLabNames().includes(name) ? ProcessLab.find(name) : HostLab.find(name);
}

/** Every lab of this machine, also one that was left half made. @throws E_LAB_MISSING for a name that nothing has */
export async function overviewOfLabs(only?: string): Promise<LabOverview[]> {
  const processes = processLabNames().filter((name) => only === undefined || name === only);
  const ofProcesses = await Promise.all(processes.map((name) => ProcessLab.overview(name)));
  const ofHosts = only !== undefined && processes.length > 0 ? [] : listLabs(only);
  return [...ofHosts.map((lab) => ({ tier: "hosts" as const, ...lab })), ...ofProcesses];
}

export function namesOfLabs(): string[] {
  return [...new Set([...labNames(), ...processLabNames()])].sort();
}

/** Leaves nothing of the lab of this name, whatever it is made of. Doing it twice does no harm. */
export async function takeDownLab(name: string): Promise<void> {
  if (processLabNames().includes(name)) await ProcessLab.takeDown(name);
  // Machines are root's alone.
  else if (process.getuid?.() === 0) await takeDown(new LabPlace(name));
}
