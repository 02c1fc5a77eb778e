/** `escapement drill resume`: lifts the halt, so that drills may begin again. */
import type { Command } from "commander";
import { ExitCode } from "../../base/exit-code.ts";
import { defineCommand } from "../command.ts";
import { type DeedOptions, deedOf, withDeedOptions } from "../person.ts";
import { type StoreOptions, withStore, withStoreOptions } from "../store-url.ts";
import { print, printJson } from "../terminal.ts";

export function buildResume(): Command {
  const command = defineCommand("resume", "lift the halt: drills may begin again", {
    examples: ["escapement drill resume --reason 'release is out' --cluster cluster.yaml"],
    exitCodes: [ExitCode.ok, ExitCode.unavailable],
    notes: "Begins nothing by itself. Without a halt it changes nothing.",
  }).option("--json", "print one JSON document");
  return withDeedOptions(withStoreOptions(command)).action(
    async (options: StoreOptions & DeedOptions & { json?: boolean }) => {
      const { liftDrillHalt } = await import("../../store/drill/drill-halt.ts");
      await withStore(options, async (db) => {
        const lifted = await liftDrillHalt(db, deedOf(options));
        if (options.json) printJson({ lifted });
        else print(lifted ? "drills may begin again" : "drills were not halted");
      });
    },
  );
}
