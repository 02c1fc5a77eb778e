/** `escapement shards`: the pieces of one execution, and every attempt that failed. */
import type { Command } from "commander";
import { formatDuration } from "../base/duration.ts";
import { EscapementError } from "../base/errors.ts";
import { ExitCode } from "../base/exit-code.ts";
import { formatInstant } from "../base/instant.ts";
import { defineCommand } from "./command.ts";
import { instantOption } from "./parse-option.ts";
import { type StoreOptions, withStore, withStoreOptions } from "./store-url.ts";
import { paint, print, printJson, table } from "./terminal.ts";

export function build(): Command {
  const command = defineCommand("shards", "list the shards of one execution and its failed attempts", {
    examples: ["escapement shards settlement 2026-07-01T02:00:00Z --cluster cluster.yaml"],
    exitCodes: [ExitCode.ok, ExitCode.unavailable],
  })
    .argument("<job>", "name, or namespace/name")
    .argument("<fire-time>", "the execution's fire time", instantOption)
    .option("--json", "print one JSON document");
  return withStoreOptions(command).action(
    async (name: string, fireTime: Date, options: StoreOptions & { json?: boolean }) => {
      const { jobLabel, requireJob } = await import("../store/job.ts");
      const { findExecution } = await import("../store/execution.ts");
      const { listAttempts, listShards } = await import("../store/shard.ts");
      const { paintStatus } = await import("./execution-table.ts");
      await withStore(options, async (db) => {
        const job = await requireJob(db, name);
        const execution = await findExecution(db, job.jobId, fireTime);
        if (!execution)
          throw new EscapementError("E_EXECUTION_UNKNOWN", {
            job: jobLabel(job),
            fireTime: formatInstant(fireTime),
          });
        const shards = await listShards(db, job.jobId, fireTime);
        const attempts = await listAttempts(db, job.jobId, fireTime);
        if (options.json) return printJson({ execution, shards, attempts });
        print(
          `${paint.bold(jobLabel(job))} at ${formatInstant(fireTime)}, run ${execution.runNo}: ${paintStatus(execution.status)}`,
        );
        if (execution.reason) print(`  ${execution.reason}`);
        const rows = shards.map((shard) => [
          shard.shardNo === -1 ? "freeze" : String(shard.shardNo),
          paintStatus(shard.status),
          String(shard.attempt),
          shard.owner ?? "-",
          shard.startTime && shard.endTime
            ? formatDuration(shard.endTime.getTime() - shard.startTime.getTime())
            : "-",
          shard.rows === null ? "-" : String(shard.rows),
          shard.error ?? "",
        ]);
        if (rows.length > 0)
          print(table(["shard", "status", "attempt", "executor", "took", "rows", "error"], rows));
        if (attempts.length > 0) {
          const failed = attempts.map((one) => [
            one.shardNo === -1 ? "freeze" : String(one.shardNo),
            String(one.attempt),
            one.outcome,
            one.owner ?? "-",
            formatInstant(one.endTime),
            one.error ?? "",
          ]);
          print(
            `\nattempts that did not succeed\n${table(["shard", "attempt", "outcome", "executor", "ended", "error"], failed)}`,
          );
        }
      });
    },
  );
}
