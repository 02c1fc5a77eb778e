/** From nothing to a lab that is up: a name, an address range, hosts that answer. */
import { existsSync, mkdirSync } from "node:fs";
import { resolve } from "node:path";
import { EscapementError } from "../../base/errors.ts";
import { virtualMachines } from "../vm/virtual-machines.ts";
import { claimRange } from "./address-range.ts";
import { bringUp } from "./bring-up.ts";
import { whyNoHosts } from "./capabilities.ts";
import { placeHosts, type WantedHost } from "./default-hosts.ts";
import { makeRoom } from "./kernel-room.ts";
import { LabPlace, labsFolder } from "./lab-place.ts";
import { changeState, type LabState, writeState } from "./lab-state.ts";
import { checkOutputFolder } from "./output-files.ts";
import { packageRepository } from "./package-repository.ts";
import { processIdentity } from "./process-identity.ts";
import { packageSource, rootImage } from "./root-image.ts";
import { takeDown } from "./take-down.ts";

export interface LabOptions {
  readonly name: string;
  readonly hosts: readonly WantedHost[];
  /** Where the inventory and the keys go. */
  readonly folder: string;
  /** The lab ends with this process: once it has ended, anybody's next lab may take it down. */
  readonly owned?: boolean;
  /** Virtual machines have the packages of the shipped profiles already, switched off. Default: they are bare. */
  readonly prepared?: boolean;
  /** Ends the start after the step it is in; its reason is thrown. */
  readonly signal?: AbortSignal;
  /** Told what happens, step by step. */
  readonly say?: (line: string) => void;
}

/** Puts a lab up: all hosts answer by ssh. What was made is taken away when it fails. @throws E_LAB_* */
export async function startLab(options: LabOptions): Promise<LabPlace> {
  const say = options.say ?? (() => {});
  const reason = await whyNoHosts();
  if (reason !== undefined)
    throw new EscapementError("E_LAB_TIER", {
      tier: "hosts",
      reason,
      hint: "npm run setup -- --for test installs what is missing, as root on Debian",
    });
  const place = new LabPlace(options.name);
  placeHosts(options.hosts, "10.0.0");
  if (existsSync(place.folder)) throw new EscapementError("E_LAB_EXISTS", { name: place.name });
  checkOutputFolder(resolve(options.folder));
  const source = await packageSource();
  say("root file system (minutes when it is built for the first time)");
  const root = await rootImage(source);
  say("package source");
  const packages = await packageRepository(source, root);
  const virtual = options.hosts.some((host) => host.machine === "virtual")
    ? await virtualMachines(source, root, packages, say, options.prepared)
    : undefined;
  options.signal?.throwIfAborted();
  claim(place);
  makeRoom();
  try {
    const network = await claimRange(place.name);
    const state: LabState = {
      stateVersion: 1,
      name: place.name,
      phase: "starting",
      starter: processIdentity(process.pid) ?? "",
      owned: options.owned ?? false,
      network,
      gateway: `${network}.253`,
      controllerAddress: `${network}.254`,
      timeSources: [241, 242, 243].map((last) => `${network}.${last}`),
      virtualIp: `${network}.200`,
      outputFolder: resolve(options.folder),
      hosts: placeHosts(options.hosts, network),
      cuts: [],
      clocks: {},
      layers: [packages.lists, root],
      pool: packages.pool,
      timeSourceLayers: [packages.timeSource, root],
      ...(virtual ? { virtual } : {}),
    };
    writeState(place, state);
    await bringUp(place, state, say, options.signal);
    changeState(place, () => ({ phase: "up" }));
  } catch (error) {
    await takeDown(place);
    // A step may have failed because the same Ctrl-C ended its program.
    options.signal?.throwIfAborted();
    throw error;
  }
  return place;
}

/** The folder is the lab: whoever makes it owns the name. @throws E_LAB_EXISTS */
function claim(place: LabPlace): void {
  mkdirSync(labsFolder, { recursive: true, mode: 0o755 });
  try {
    mkdirSync(place.folder, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    throw new EscapementError("E_LAB_EXISTS", { name: place.name });
  }
}
