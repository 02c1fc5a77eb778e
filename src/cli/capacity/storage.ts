/** `escapement capacity storage`: how much disk the record store needs. */
import type { Command } from "commander";
import { ExitCode } from "../../base/exit-code.ts";
import type { StorageAnswer } from "../../capacity/storage/estimate.ts";
import type { StorageQuestion } from "../../capacity/storage/question.ts";
import { defineCommand } from "../command.ts";
import { paint, print, printJson } from "../terminal.ts";
import { durationOption, numberOption, wholeOption } from "./options.ts";

interface StorageOptions {
  readonly workload?: string;
  readonly runsPerDay?: string;
  readonly shards?: string;
  readonly rowBytes?: string;
  readonly jobs?: string;
  readonly retryShare?: string;
  readonly retentionMonths?: string;
  readonly growth?: string;
  readonly archiveDays?: string;
  readonly checkpoint?: string;
  readonly batch?: string;
  readonly busiestShare?: string;
  readonly busiestWithin?: string;
  readonly standbyAway?: string;
  readonly json?: boolean;
}

export function buildStorage(): Command {
  return defineCommand("storage", "how much disk the record store needs", {
    examples: [
      "escapement capacity storage --runs-per-day 2000 --shards 100 --row-bytes 1000",
      "escapement capacity storage --workload workload.yaml --json",
    ],
    exitCodes: [ExitCode.ok, ExitCode.badData],
    notes:
      "Without --workload the reference workload of the program is the base; options replace its figures.",
  })
    .option("--workload <file>", "workload file")
    .option("--runs-per-day <number>", "executions a day, all jobs together")
    .option("--shards <number>", "shards of an execution")
    .option("--row-bytes <number>", "bytes of data in one shard's record, with its message or summary")
    .option("--jobs <number>", "jobs that share the executions")
    .option("--retry-share <number>", "attempts that fail and are tried again, per shard")
    .option("--retention-months <number>", "months of records that are kept")
    .option("--growth <number>", "growth a year: 0.2 is a fifth")
    .option("--archive-days <number>", "days of log in the archive")
    .option("--checkpoint <duration>", "time between checkpoints (checkpoint_timeout)")
    .option("--batch <number>", "shards completed in one statement")
    .option("--busiest-share <number>", "part of the day's work in the busiest window")
    .option("--busiest-within <duration>", "length of that window")
    .option("--standby-away <duration>", "how long a standby may be away")
    .option("--json", "print one JSON document")
    .action(async (options: StorageOptions) => {
      const { estimateStorage } = await import("../../capacity/storage/estimate.ts");
      const answer = estimateStorage(await storageQuestion(options));
      if (options.json) printJson({ ...answer });
      else await printStorage(answer);
    });
}

/** The question that the options ask, on top of the workload's figures. */
export async function storageQuestion(options: StorageOptions): Promise<StorageQuestion> {
  const { loadWorkload } = await import("./data-files.ts");
  const { storageDefaults } = await import("../../capacity/storage/question.ts");
  const { questionFromWorkload } = await import("../../capacity/storage/workload-question.ts");
  // Figures given by hand are not to be mixed with those of a workload nobody named.
  const isByHand = options.workload === undefined && options.runsPerDay !== undefined;
  const base = {
    ...questionFromWorkload((await loadWorkload(options.workload)).spec),
    ...(isByHand && storageDefaults),
  };
  const number = (option: string, text: string | undefined, otherwise: number) =>
    text === undefined ? otherwise : numberOption(option, text);
  const duration = (option: string, text: string | undefined, otherwise: number) =>
    text === undefined ? otherwise : durationOption(option, text);
  return {
    runsPerDay: number("--runs-per-day", options.runsPerDay, base.runsPerDay),
    shards: options.shards === undefined ? base.shards : wholeOption("--shards", options.shards, 1),
    rowBytes: number("--row-bytes", options.rowBytes, base.rowBytes),
    jobs: number("--jobs", options.jobs, base.jobs),
    retryShare: number("--retry-share", options.retryShare, base.retryShare),
    retentionMonths: number("--retention-months", options.retentionMonths, base.retentionMonths),
    growthPerYear: number("--growth", options.growth, base.growthPerYear),
    archiveDays: number("--archive-days", options.archiveDays, base.archiveDays),
    checkpointMs: duration("--checkpoint", options.checkpoint, base.checkpointMs),
    batch: options.batch === undefined ? base.batch : wholeOption("--batch", options.batch, 1),
    busiestShare: number("--busiest-share", options.busiestShare, base.busiestShare),
    busiestMs: duration("--busiest-within", options.busiestWithin, base.busiestMs),
    standbyAwayMs: duration("--standby-away", options.standbyAway, base.standbyAwayMs),
  };
}

async function printStorage(answer: StorageAnswer): Promise<void> {
  const { decimalBytes } = await import("../../capacity/format.ts");
  const { printAnswer, printFigures } = await import("./print-answer.ts");
  print(
    `${paint.bold(paint.green(decimalBytes(answer.figures.needed!.value)))} of usable disk for the record store`,
  );
  printAnswer(answer);
  print();
  print(paint.bold("The estimate on paper, for comparison"));
  printFigures(answer.rule as unknown as Parameters<typeof printFigures>[0]);
  print();
  print(paint.bold("Why they differ"));
  for (const difference of answer.differences) print(`- ${difference}`);
}
