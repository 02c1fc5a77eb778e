/** `escapement jobs show`: one job whole: definition, state, latest operations and executions. */
import type { Command } from "commander";
import { ExitCode } from "../../base/exit-code.ts";
import { formatInstant } from "../../base/instant.ts";
import { defineCommand } from "../command.ts";
import { type StoreOptions, withStore, withStoreOptions } from "../store-url.ts";
import { paint, print, printJson, table } from "../terminal.ts";

export function buildShow(): Command {
  const command = defineCommand("show", "show one job: definition, state, what was done to it", {
    examples: [
      "escapement jobs show settlement --cluster cluster.yaml",
      "escapement jobs show pay/bonus --json",
    ],
    exitCodes: [ExitCode.ok, ExitCode.unavailable],
  })
    .argument("<job>", "name, or namespace/name")
    .option("--json", "print one JSON document");
  return withStoreOptions(command).action(
    async (name: string, options: StoreOptions & { json?: boolean }) => {
      const { jobLabel, requireJob } = await import("../../store/job.ts");
      const { operationsOf } = await import("../../store/operation.ts");
      const { listExecutions } = await import("../../store/execution.ts");
      const { executionTable } = await import("../execution-table.ts");
      await withStore(options, async (db) => {
        const job = await requireJob(db, name);
        const operations = await operationsOf(db, job.jobId);
        const executions = await listExecutions(db, { jobId: job.jobId, limit: 10 });
        if (options.json) return printJson({ job, operations, executions });
        print(
          `${paint.bold(jobLabel(job))}  ${job.state}${job.stateReason ? ` (${job.stateReason})` : ""}, version ${job.version}`,
        );
        print(
          `known since ${formatInstant(job.knownSince)}, planned until ${formatInstant(job.plannedUntil)}`,
        );
        print(`\ndefinition\n${JSON.stringify(job.definition, null, 2)}`);
        if (executions.length > 0) print(`\nlatest executions\n${executionTable(executions)}`);
        if (operations.length > 0) {
          const rows = operations.map((one) => [formatInstant(one.at), one.person, one.action, one.reason]);
          print(`\nlatest operations\n${table(["at", "by", "what", "why"], rows)}`);
        }
      });
    },
  );
}
