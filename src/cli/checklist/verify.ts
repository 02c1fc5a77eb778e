/** `escapement checklist verify`: whether a stored report may be believed. It says nothing about the verdict in it. */
import type { Command } from "commander";
import { ExitCode } from "../../base/exit-code.ts";
import { readReport } from "../../checklist/read-report.ts";
import { defineCommand } from "../command.ts";
import { print, printJson } from "../terminal.ts";
import { type BelieveOptions, believe, withBelieveOptions } from "./believe.ts";

export function buildVerify(): Command {
  const command = defineCommand("verify", "refuse a report that is foreign, stale, unsigned or edited", {
    examples: [
      "escapement checklist verify out/report.json --key checklist.pub",
      "escapement checklist verify out/report.json --key checklist.pub --cluster 7c9e6679-7425-40de-944b-e07fc1f90ae7 --commit $(git rev-parse HEAD) --max-age 2h",
    ],
    exitCodes: [ExitCode.ok, ExitCode.refused, ExitCode.badData],
    notes:
      "Without --max-age a report older than a day is refused. The verdict is the gate's business:\nescapement checklist gate REPORT takes the same options.",
  }).argument("<report>", "the JSON report");
  command.option("--json", "print one JSON document");
  return withBelieveOptions(command).action(
    async (file: string, options: BelieveOptions & { json?: boolean }) => {
      if (options.key === undefined) {
        const { EscapementError } = await import("../../base/errors.ts");
        throw new EscapementError("E_USAGE", {
          what: "--key is needed: without it anybody may have written the report",
        });
      }
      const stored = await readReport(file);
      await believe(stored, options, new Date());
      const { at, cluster, commit, outcome, runId } = stored.report;
      if (options.json) return printJson({ ok: true, at, cluster, commit, outcome, runId });
      const files = { true: "", false: " with changes on top", null: " (nobody compared the files with it)" };
      const bound = commit.id === null ? "unknown" : `${commit.id}${files[`${commit.clean}`]}`;
      print(
        `ok: made at ${at} of cluster ${cluster.name} (${cluster.id ?? "id unknown"}), commit ${bound}, as signed; it says ${outcome}`,
      );
    },
  );
}
