/** What a lab remembers between commands: one file, replaced whole. Anything else is looked up. */
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { z } from "zod";
import { EscapementError } from "../../base/errors.ts";
import type { LabPlace } from "./lab-place.ts";

const hostSchema = z.object({
  name: z.string(),
  address: z.string(),
  profile: z.string(),
  failureDomain: z.string(),
  /** The bridge's end of the host's cable. */
  port: z.string(),
  /** `virtual`: a machine with a kernel and a clock of its own. */
  machine: z.enum(["container", "virtual"]),
});

const cutSchema = z.object({
  host: z.string(),
  /** `receive`: nothing reaches the host, and what it sends still arrives. */
  direction: z.enum(["both", "receive"]),
  /** Empty: everybody, the controller and the time sources included. */
  peers: z.array(z.string()),
});

const stateSchema = z.object({
  stateVersion: z.literal(1),
  name: z.string(),
  phase: z.enum(["starting", "up"]),
  /** Identity (see process-identity.ts) of the process that puts the lab up. */
  starter: z.string(),
  /** Present when the lab belongs to that process, and may be taken down by anybody once it has ended. */
  owned: z.boolean(),
  /** The first three numbers of every address, for example `10.73.5`. */
  network: z.string(),
  /** The bridge's own address: the gateway that leads nowhere. */
  gateway: z.string(),
  controllerAddress: z.string(),
  timeSources: z.array(z.string()),
  virtualIp: z.string(),
  /** Where the user finds the inventory and the keys. */
  outputFolder: z.string(),
  hosts: z.array(hostSchema),
  cuts: z.array(cutSchema),
  /** Seconds that a host's clock is off; not listed: none. */
  clocks: z.record(z.string(), z.number()),
  /** Layers below each host's own, the uppermost first. */
  layers: z.array(z.string()),
  pool: z.string(),
  timeSourceLayers: z.array(z.string()),
  /** What virtual machines start from, where the lab has any. */
  virtual: z
    .object({
      accelerator: z.enum(["kvm", "tcg"]),
      /** The disk with the kept state. */
      golden: z.string(),
      image: z.object({
        key: z.string(),
        disk: z.string(),
        packages: z.string(),
        kernel: z.string(),
        initialDisk: z.string(),
      }),
    })
    .optional(),
});

export type LabHost = z.infer<typeof hostSchema>;
export type NetworkCut = z.infer<typeof cutSchema>;
export type LabState = z.infer<typeof stateSchema>;

export function writeState(place: LabPlace, state: LabState): void {
  writeFileSync(`${place.stateFile}.new`, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${place.stateFile}.new`, place.stateFile);
}

/** Undefined when there is no lab, or `up` was killed before it wrote anything. */
export function findState(place: LabPlace): LabState | undefined {
  let text: string;
  try {
    text = readFileSync(place.stateFile, "utf8");
  } catch {
    return undefined;
  }
  return stateSchema.parse(JSON.parse(text));
}

/** @throws E_LAB_MISSING */
export function readState(place: LabPlace): LabState {
  const state = findState(place);
  if (state === undefined) throw new EscapementError("E_LAB_MISSING", { name: place.name });
  return state;
}

/** Reads, changes and writes without a pause in between. */
export function changeState(place: LabPlace, change: (state: LabState) => Partial<LabState>): LabState {
  const state = readState(place);
  const changed = { ...state, ...change(state) };
  writeState(place, changed);
  return changed;
}

/** @throws E_LAB_HOST */
export function hostNamed(state: LabState, name: string): LabHost {
  const host = state.hosts.find((one) => one.name === name);
  if (host) return host;
  throw new EscapementError("E_LAB_HOST", {
    name: state.name,
    host: name,
    hosts: state.hosts.map((one) => one.name).join(", "),
  });
}
