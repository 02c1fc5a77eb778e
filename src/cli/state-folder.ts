/** Where this machine keeps what it must remember about the hosts of an inventory. */
import { accessSync, constants } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";

/** Beside the inventory; where that may not be written, a folder of its own in the user's state folder. */
export function stateFolder(inventoryFile: string): string {
  const beside = dirname(inventoryFile);
  try {
    accessSync(beside, constants.W_OK);
    return join(beside, ".escapement");
  } catch {
    const asked = process.env.XDG_STATE_HOME ?? "";
    const state = isAbsolute(asked) ? asked : join(homedir(), ".local", "state");
    return join(state, "escapement", inventoryFile.replaceAll(/[^A-Za-z0-9.-]+/g, "_"));
  }
}
