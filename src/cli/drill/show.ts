/** `escapement drill show NAME`: a drill from its first question to its verdict. */
import type { Command } from "commander";
import { formatDuration } from "../../base/duration.ts";
import { ExitCode } from "../../base/exit-code.ts";
import { defineCommand } from "../command.ts";
import { paint, print, printJson } from "../terminal.ts";
import { type DrillFileOptions, requireDrill, withDrillsOption } from "./drill-files.ts";

export function buildShow(): Command {
  const command = defineCommand("show", "show a drill step by step", {
    examples: ["escapement drill show kill-executor", "escapement drill show stop-primary --json"],
    exitCodes: [ExitCode.ok, ExitCode.badData],
    notes: "escapement drill plan NAME says which host it would be, and how long it takes on your cluster.",
  })
    .argument("<name>", "a drill")
    .option("--json", "print one JSON document");
  return withDrillsOption(command).action(
    async (name: string, options: DrillFileOptions & { json?: boolean }) => {
      const { definition, digest, file } = await requireDrill(name, options);
      if (options.json) return printJson({ ...definition, digest, file });
      const { beforeTexts, loadText, passTexts } = await import("../../chaos/plan/drill-plan.ts");
      const { faultText, holdText, proofText, roleText, wayBackText } = await import(
        "../../chaos/plan/fault-text.ts"
      );
      const { settle } = definition;
      const list = (title: string, lines: readonly string[]) =>
        lines.forEach((line, i) => {
          print(`${i === 0 ? paint.dim(title.padEnd(10)) : " ".repeat(10)} ${line}`);
        });
      print(`${paint.bold(definition.name)}  ${definition.class}`);
      print(definition.description);
      list("before", beforeTexts(definition));
      list("load", [loadText(definition)]);
      for (const {
        name: variant,
        target,
        fault,
        hold,
        limitAfterHoldMs,
        proof,
        pass,
      } of definition.variants) {
        print();
        if (definition.variants.length > 1) print(paint.bold(variant));
        list("target", [
          target.owning ? `${roleText(target.role)} that runs a shard` : roleText(target.role),
        ]);
        list("fault", [faultText(fault, target.role)]);
        list("hold", [
          `${holdText(hold)}; ${formatDuration(limitAfterHoldMs)} later the host puts itself right`,
        ]);
        list("back", [wayBackText(fault)]);
        list("proof", proof.map(proofText));
        list("pass", passTexts(pass));
      }
      print();
      list("settle", [
        `at least ${formatDuration(settle.minimumMs)}, then ${settle.quietReads} equal reads ${formatDuration(settle.readEveryMs)} apart; unknown after ${formatDuration(settle.deadlineMs)}`,
      ]);
    },
  );
}
