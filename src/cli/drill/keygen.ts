/** `escapement drill keygen`: makes the key that begins drills. */
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import type { Command } from "commander";
import { EscapementError } from "../../base/errors.ts";
import { ExitCode } from "../../base/exit-code.ts";
import { defineCommand } from "../command.ts";
import { type InventoryOptions, withInventoryOption } from "../inventory-file.ts";
import { print, printJson } from "../terminal.ts";
import { type KeyOptions, keyPlace, withKeyOption } from "./doors.ts";

export function buildKeygen(): Command {
  const command = defineCommand("keygen", "make the key that begins drills", {
    examples: [
      "escapement drill keygen -i inventory.yaml",
      "escapement drill keygen --key /etc/escapement/drill-key",
    ],
    exitCodes: [ExitCode.ok, ExitCode.refused, ExitCode.badData],
    notes:
      "Write the line it prints into the settings of the inventory and apply: then the hosts take drills of whoever\nhas the key. Keep it where drills are started, and nowhere else.",
  }).option("--json", "print one JSON document");
  return withKeyOption(withInventoryOption(command)).action(
    async (options: KeyOptions & InventoryOptions & { json?: boolean }) => {
      const { makeDrillKey } = await import("../../chaos/host/drill-key.ts");
      if (options.key === undefined) requireFolderOf(options.inventory);
      const { file, publicKey } = await makeDrillKey(keyPlace(options));
      if (options.json) return printJson({ file, publicKey });
      print(`the key is ${file}; in the inventory:`);
      print(`  settings:\n    drillPublicKey: ${publicKey}`);
    },
  );
}

/** The key comes to lie beside the inventory, which may be written later; a slip in its path makes no folders. */
function requireFolderOf(inventory: string): void {
  const folder = dirname(inventory);
  if (existsSync(folder)) return;
  throw new EscapementError("E_FILE_UNREADABLE", { file: inventory, reason: `there is no folder ${folder}` });
}
