/** `escapement checklist gate`: judges a stored report, without a cluster. */
import type { Command } from "commander";
import { ExitCode } from "../../base/exit-code.ts";
import { allItems, judge } from "../../checklist/judge.ts";
import { readReport } from "../../checklist/read-report.ts";
import { oneLine } from "../../report/checklist/visible.ts";
import { defineCommand } from "../command.ts";
import { print, printJson } from "../terminal.ts";
import { type BelieveOptions, believe, withBelieveOptions } from "./believe.ts";
import { gateExit } from "./gate-exit.ts";

export function buildGate(): Command {
  const command = defineCommand("gate", "judge a stored report: 0 pass, 1 fail, 5 unknown", {
    examples: [
      "escapement checklist gate out/report.json",
      "escapement checklist gate out/report.json --key checklist.pub --max-age 2h",
    ],
    exitCodes: [ExitCode.ok, ExitCode.failed, ExitCode.refused, ExitCode.unknown, ExitCode.badData],
    notes:
      "The answers in the report are judged anew, at this machine's time: a waiver that has expired since counts\nno more, and an outcome that was written by hand is not believed.",
  })
    .argument("<report>", "the JSON report")
    .option("--json", "print one JSON document");
  return withBelieveOptions(command).action(
    async (file: string, options: BelieveOptions & { json?: boolean }) => {
      const stored = await readReport(file);
      const now = new Date();
      await believe(stored, options, now);
      const { outcome, reasons, verdicts } = judge(stored.report, now);
      process.exitCode = gateExit[outcome];
      if (options.json) {
        const items = [...verdicts].map(([item, verdict]) => ({ item, verdict }));
        return printJson({ outcome, reasons, items });
      }
      for (const reason of reasons) print(oneLine(reason));
      const passed = [...verdicts.values()].filter((verdict) => verdict === "pass").length;
      print(`${outcome}: ${passed} of ${allItems.length} items pass, by the report of ${stored.report.at}`);
    },
  );
}
