/** Every lab of this machine, also one that was left half made. */
import { HostLab, type HostStatus } from "./host-lab.ts";
import { LabPlace } from "./lab-place.ts";
import { findState } from "./lab-state.ts";
import { isAlive } from "./process-identity.ts";
import { labNames } from "./take-down.ts";

export interface LabOverview {
  readonly name: string;
  /** `unfinished`: `up` was killed, or `down`; escapement lab down takes the rest away. */
  readonly condition: "up" | "starting" | "unfinished";
  readonly inventoryFile?: string;
  readonly hosts: readonly HostStatus[];
}

/** @param only one lab by its name. @throws E_LAB_MISSING when there is no such lab */
export function listLabs(only?: string): LabOverview[] {
  const names = labNames();
  // Raises the error for a name that nothing has.
  if (only !== undefined && !names.includes(only)) HostLab.find(only);
  return names.filter((name) => only === undefined || name === only).map(overview);
}

function overview(name: string): LabOverview {
  const state = findState(new LabPlace(name));
  if (state === undefined) return { name, condition: "unfinished", hosts: [] };
  const lab = HostLab.find(name);
  const starting = isAlive(state.starter) ? "starting" : "unfinished";
  return {
    name,
    condition: state.phase === "up" ? "up" : starting,
    inventoryFile: lab.inventoryFile,
    hosts: lab.status(),
  };
}
