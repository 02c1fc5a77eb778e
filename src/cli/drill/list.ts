/** `escapement drill list`. */
import type { Command } from "commander";
import { ExitCode } from "../../base/exit-code.ts";
import { mandatoryDrillClasses } from "../../spec/drill-definition.ts";
import { defineCommand } from "../command.ts";
import { print, printJson, table } from "../terminal.ts";
import { type DrillFileOptions, readDrills, withDrillsOption } from "./drill-files.ts";

export function buildList(): Command {
  const command = defineCommand("list", "list the drills", {
    examples: ["escapement drill list", "escapement drill list --json"],
    exitCodes: [ExitCode.ok, ExitCode.badData],
    notes: "A class with a * is one that the checklist asks for.",
  }).option("--json", "print one JSON document");
  return withDrillsOption(command).action(async (options: DrillFileOptions & { json?: boolean }) => {
    const drills = [...(await readDrills(options)).values()];
    const mandatory = (name: string) => mandatoryDrillClasses.some((one) => one === name);
    if (options.json) {
      printJson({
        drills: drills.map(({ definition, digest, file }) => ({
          name: definition.name,
          class: definition.class,
          mandatory: mandatory(definition.class),
          description: definition.description,
          variants: definition.variants.map(({ name }) => name),
          recordStore: definition.blastRadius.recordStore,
          digest,
          file,
        })),
      });
      return;
    }
    const rows = drills.map(({ definition: { name, class: stands, variants, description } }) => [
      name,
      mandatory(stands) ? `${stands} *` : stands,
      variants.length === 1 ? "-" : variants.map((one) => one.name).join(", "),
      description,
    ]);
    print(table(["drill", "class", "variants", "what it does"], rows));
  });
}
