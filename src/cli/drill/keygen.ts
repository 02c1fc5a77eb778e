/** `escapement drill keygen`: makes the key that begins drills. */
import type { Command } from "commander";
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
    exitCodes: [ExitCode.ok, ExitCode.refused],
    notes:
      "Write the line it prints into the settings of the inventory and apply: then the hosts take drills of whoever\nhas the key. Keep it where drills are started, and nowhere else.",
  }).option("--json", "print one JSON document");
  return withKeyOption(withInventoryOption(command)).action(
    async (options: KeyOptions & InventoryOptions & { json?: boolean }) => {
      const { makeDrillKey } = await import("../../chaos/host/drill-key.ts");
      const { file, publicKey } = await makeDrillKey(keyPlace(options));
      if (options.json) return printJson({ file, publicKey });
      print(`the key is ${file}; in the inventory:`);
      print(`  settings:\n    drillPublicKey: ${publicKey}`);
    },
  );
}
