/** `escapement diagnose`: which fires went wrong, as what, and why. */
import type { Command } from "commander";
import { EscapementError } from "../base/errors.ts";
import { ExitCode } from "../base/exit-code.ts";
import { defineCommand } from "./command.ts";
import { buildDuplicates } from "./diagnose/duplicates.ts";
import { durationOption, instantOption } from "./parse-option.ts";
import { type StoreOptions, withStore, withStoreOptions } from "./store-url.ts";
import { print, printJson, say } from "./terminal.ts";

interface DiagnoseOptions extends StoreOptions {
  readonly job?: string;
  readonly from?: Date;
  readonly to?: Date;
  readonly guard?: string;
  readonly journal?: string;
  readonly log?: string;
  readonly late?: number;
  readonly all?: boolean;
  readonly evidence?: boolean;
  readonly matrix?: boolean;
  readonly json?: boolean;
}

const dayMs = 86_400_000;

export function build(): Command {
  const command = defineCommand("diagnose", "which fires went wrong, as what, and why", {
    examples: [
      "escapement diagnose --cluster cluster.yaml",
      "escapement diagnose --job settlement --from 2026-07-01T00:00:00Z --to 2026-07-02T00:00:00Z --evidence",
      "escapement diagnose --matrix",
    ],
    exitCodes: [ExitCode.ok, ExitCode.failed, ExitCode.unknown, ExitCode.badData, ExitCode.unavailable],
    notes:
      "Classes: never-fired, duplicate, partial, interrupted, shard-failed, blocked, late. Exit 1 when one is found\nthat nobody intended, 5 when not all of the window was looked at. --matrix says what each kind comes from and what keeps it away.",
  })
    .option("--job <job>", "only this job")
    .option("--from <instant>", "fire time from here (default: a day before --to)", instantOption)
    .option("--to <instant>", "fire time up to here (default: now, by the store's clock)", instantOption)
    .option("--guard <url>", "the job's own database: ask the guard there about calls to the outside")
    .option(
      "--journal <file>",
      "kernel messages of a host, as journalctl -k -o json prints them, to find OOM kills",
    )
    .option("--log <file>", "the log of --job, from the executor's host: the last words of its attempts")
    .option("--late <duration>", "started this long after its time is late (default: 5m)", durationOption)
    .option("--all", "also what somebody intended: pauses, cancellations, replacements")
    .option("--evidence", "show the rows that each verdict rests on")
    .option("--matrix", "print the failure matrix, and look at nothing")
    .option("--json", "print one JSON document");
  command.addCommand(buildDuplicates());
  return withStoreOptions(command).action(run);
}

async function run(options: DiagnoseOptions): Promise<void> {
  if (options.matrix) return printMatrix(options.json ?? false);
  if (options.log !== undefined && options.job === undefined)
    throw new EscapementError("E_USAGE", { what: "--log is the log of one job: name it with --job" });
  if (options.guard !== undefined && !/^postgres(ql)?:\/\//.test(options.guard))
    throw new EscapementError("E_BAD_VALUE", {
      option: "--guard",
      value: "what it holds",
      expected: "a PostgreSQL URL",
      hint: "write postgres://user@host:port/database",
    });
  const { readWindow } = await import("../watchman/diagnose/read-window.ts");
  const { diagnoseWindow } = await import("../watchman/diagnose/diagnose-window.ts");
  const { requireJob } = await import("../store/job.ts");
  const { readStoreTime } = await import("../store/store-time.ts");
  const { Database } = await import("../store/database.ts");
  const { formatInstant } = await import("../base/instant.ts");
  await withStore(options, async (db) => {
    const job = options.job === undefined ? null : await requireJob(db, options.job);
    const to = options.to ?? (await readStoreTime(db));
    const from = options.from ?? new Date(to.getTime() - dayMs);
    if (from > to) throw new EscapementError("E_USAGE", { what: "the window ends before it begins" });
    const guard =
      options.guard === undefined ? undefined : new Database(options.guard, { maxConnections: 1 });
    try {
      const read = await readWindow(db, { ...(job ? { jobId: job.jobId } : {}), from, to }, guard);
      const { defaultDiagnoseSettings: usual } = await import("../watchman/diagnose/fire.ts");
      const found = diagnoseWindow({ ...read.rows, ...(await readBrought(options)) }, from, read.to, {
        ...usual,
        lateMs: options.late ?? usual.lateMs,
      });
      const diagnoses = found.diagnoses.filter(({ intended }) => options.all || !intended);
      if (diagnoses.some(({ intended }) => !intended)) process.exitCode = ExitCode.failed;
      else if (read.truncated || found.unreadable.length > 0) process.exitCode = ExitCode.unknown;
      if (options.json)
        return printJson({
          ...{ from, to: read.to, truncated: read.truncated, fires: found.fires },
          ...{ unreadable: found.unreadable, diagnoses },
        });
      if (read.truncated)
        say(
          `there are more executions than one look takes: only up to ${formatInstant(read.to)}; name a --job or a shorter window`,
        );
      for (const { job: name, version, reason } of found.unreadable)
        say(
          `${name}: nobody can say here when version ${version} fires, so what is missing is not seen: ${reason}`,
        );
      const { printDiagnoses } = await import("./diagnose/print-diagnoses.ts");
      printDiagnoses(diagnoses, options.evidence ?? false);
      const hidden = found.diagnoses.length - diagnoses.length;
      say(
        `${found.fires} fire(s) from ${formatInstant(from)} to ${formatInstant(read.to)}; ${diagnoses.length} went wrong${hidden > 0 ? `, ${hidden} more as somebody intended (--all)` : ""}`,
      );
    } finally {
      await guard?.end();
    }
  });
}

/** What somebody has brought from the hosts. */
async function readBrought({ journal, log }: DiagnoseOptions) {
  const { hasEntries, parseKills } = await import("../watchman/diagnose/oom-journal.ts");
  const { parseLastWords } = await import("../watchman/diagnose/job-log.ts");
  const messages = journal === undefined ? undefined : await readBroughtFile(journal);
  if (messages !== undefined && !hasEntries(messages))
    say(
      `${journal} holds no kernel message as journalctl -k -o json prints them: it says nothing about OOM kills`,
    );
  return {
    kills: messages === undefined ? [] : parseKills(messages),
    lastWords: log === undefined ? [] : parseLastWords(await readBroughtFile(log)),
  };
}

async function readBroughtFile(file: string): Promise<string> {
  const { readFile } = await import("node:fs/promises");
  const { messageOf } = await import("../base/errors.ts");
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    throw new EscapementError("E_FILE_UNREADABLE", { file, reason: messageOf(error) }, { cause: error });
  }
}

async function printMatrix(json: boolean): Promise<void> {
  const { failureMatrix, matrixText } = await import("../watchman/diagnose/failure-matrix.ts");
  if (json) printJson({ kinds: failureMatrix });
  else print(matrixText());
}
