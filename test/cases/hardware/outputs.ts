/** All saved outputs of our own. */
import { diskOutputs } from "./disk-outputs.ts";
import { machineOutputs } from "./machine-outputs.ts";
import { raidOutputs } from "./raid-outputs.ts";
import type { SavedOutput } from "./saved-output.ts";
import { timeOutputs } from "./time-outputs.ts";

export const savedOutputs: readonly SavedOutput[] = [
  ...raidOutputs,
  ...machineOutputs,
  ...diskOutputs,
  ...timeOutputs,
];
