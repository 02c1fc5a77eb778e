/** `escapement executions`: what should have run, and what became of it. */
import type { Command } from "commander";
import { ExitCode } from "../base/exit-code.ts";
import type { ExecutionStatus } from "../store/execution.ts";
import { defineCommand } from "./command.ts";
import { countOption, instantOption } from "./parse-option.ts";
import { type StoreOptions, withStore, withStoreOptions } from "./store-url.ts";
import { print, printJson } from "./terminal.ts";

interface ExecutionsOptions extends StoreOptions {
  readonly job?: string;
  readonly status?: string[];
  readonly from?: Date;
  readonly to?: Date;
  readonly limit: number;
  readonly json?: boolean;
}

export function build(): Command {
  const command = defineCommand("executions", "list executions, newest first", {
    examples: [
      "escapement executions --job settlement --cluster cluster.yaml",
      "escapement executions --status missed failed --json",
    ],
    exitCodes: [ExitCode.ok, ExitCode.unavailable],
  })
    .option("--job <job>", "only this job")
    .option(
      "--status <status...>",
      "only these: planned pending running success failed interrupted missed blocked cancelled",
    )
    .option("--from <instant>", "fire time from here", instantOption)
    .option("--to <instant>", "fire time up to here", instantOption)
    .option("--limit <n>", "how many", countOption(1, 100_000), 50)
    .option("--json", "print one JSON document");
  return withStoreOptions(command).action(async (options: ExecutionsOptions) => {
    const { requireJob } = await import("../store/job.ts");
    const { listExecutions } = await import("../store/execution.ts");
    const { executionTable } = await import("./execution-table.ts");
    const { requireStatuses } = await import("./execution-status.ts");
    const statuses = options.status && requireStatuses(options.status);
    await withStore(options, async (db) => {
      const job = options.job === undefined ? null : await requireJob(db, options.job);
      const executions = await listExecutions(db, {
        limit: options.limit,
        ...(job ? { jobId: job.jobId } : {}),
        ...(statuses ? { statuses: statuses as ExecutionStatus[] } : {}),
        ...(options.from ? { from: options.from } : {}),
        ...(options.to ? { to: options.to } : {}),
      });
      if (options.json) printJson({ executions });
      else print(executions.length > 0 ? executionTable(executions) : "no executions");
    });
  });
}
