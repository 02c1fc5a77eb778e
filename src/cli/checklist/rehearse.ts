/** `escapement checklist rehearse`: the same fire twice, where it hurts nobody. */
import type { Command } from "commander";
import { EscapementError } from "../../base/errors.ts";
import { ExitCode } from "../../base/exit-code.ts";
import { parseInstant } from "../../base/instant.ts";
import { defineCommand } from "../command.ts";
import { personOf } from "../person.ts";
import { requireUrl, type StoreOptions, withStoreOptions } from "../store-url.ts";
import { paint, print, printJson, say } from "../terminal.ts";

interface RehearseOptions extends StoreOptions {
  readonly set: Readonly<Record<string, string>>;
  readonly look: string;
  readonly fireTime?: string;
  readonly ignore: readonly string[];
  readonly record: boolean;
  readonly by?: string;
  readonly json?: boolean;
}

export function buildRehearse(): Command {
  const command = defineCommand(
    "rehearse",
    "run one fire of a job twice in a scratch database: the repeat must change nothing",
    {
      examples: [
        "escapement checklist rehearse finance/settlement jobs/ --set LEDGER_URL=postgres://job@127.0.0.1/scratch --look postgres://postgres@127.0.0.1/scratch",
      ],
      exitCodes: [
        ExitCode.ok,
        ExitCode.failed,
        ExitCode.refused,
        ExitCode.unknown,
        ExitCode.badData,
        ExitCode.unavailable,
        ExitCode.interrupted,
      ],
      notes:
        "The scratch database is a copy of the one that the job writes to; making it is up to you. Every address in the\njob's environment must be replaced with --set, by another place, else the rehearsal is refused; so it is when\n--look is another database than the one that --set names. The result is written into the record store, for\nitem 6, unless --no-record is given. Run it where the job's program is.",
    },
  )
    .argument("<job>", "namespace/name")
    .argument("<path...>", "job files or folders")
    .requiredOption("--look <url>", "a login that reads the whole scratch database")
    .option(
      "--set <name=value>",
      "a variable of the job's environment; may be given more than once",
      variable,
      {},
    )
    .option("--fire-time <instant>", "the fire (default: the last one that is over)")
    .option(
      "--ignore <table.column>",
      "a date or time that changes with every write; may be given more than once",
      also,
      [],
    )
    .option("--no-record", "write nothing into the record store")
    .option("--by <person>", "who; default: your login, or SUDO_USER")
    .option("--json", "print one JSON document");
  return withStoreOptions(command).action(async (name: string, paths: string[], options: RehearseOptions) => {
    const { resolve } = await import("node:path");
    const { readJobFiles } = await import("../jobs/job-files.ts");
    const { failOnProblems } = await import("../problems.ts");
    const { lastFire, rehearseJob } = await import("./job-rehearsal.ts");
    const { findFiles } = await import("../../spec/find-files.ts");
    const { findRepository } = await import("./repository.ts");
    const { sourceDigests } = await import("../../checklist/items/06-idempotent-writes.ts");
    requireUrl(options.look, "--look");
    const read = await readJobFiles(paths, options.cluster);
    failOnProblems(read.problems);
    const label = name.includes("/") ? name : `default/${name}`;
    const job = read.jobs.find(({ definition }) => `${definition.namespace}/${definition.name}` === label);
    if (!job) throw new EscapementError("E_JOB_UNKNOWN", { job: name, suggestion: "" });
    const { root } = await findRepository((await findFiles(paths)).files, undefined);
    // Before anything runs: a rehearsal that cannot be written down, or of sources that are edited meanwhile, is lost.
    const sources = await sourceDigests(resolve(root), job);
    if (options.record) await requireBook(options, label);
    const outcome = await unlessStopped((signal) =>
      rehearseJob({
        job: job.definition,
        replaced: options.set,
        lookUrl: options.look,
        fireTime: options.fireTime ? parseInstant(options.fireTime) : lastFire(job.definition, new Date()),
        ignored: options.ignore,
        signal,
        say: (line) => say(line),
      }),
    );
    if (outcome === null) return;
    const rehearsal = { ...outcome, digest: job.digest, sources };
    if (options.record) await record(options, label, rehearsal);
    process.exitCode = { pass: ExitCode.ok, fail: ExitCode.failed, unknown: ExitCode.unknown }[
      outcome.verdict
    ];
    if (options.json) return printJson({ job: label, ...rehearsal });
    const colour = { pass: paint.green, fail: paint.red, unknown: paint.yellow }[outcome.verdict];
    print(colour(`${label}: ${outcome.reason}`));
    const left = [...outcome.ignored, ...outcome.unseen.map((variable) => `what ${variable} names`)];
    if (left.length > 0) print(`not compared: ${left.join(", ")}`);
    if (outcome.changed.length > 0) print(`the first run changed ${outcome.changed.join(", ")}`);
  });
}

/** Who stops a rehearsal waits that long for the database. */
const partingMs = 1_000;

/** @returns null when somebody stopped it, whatever it came to; the exit code is set then */
async function unlessStopped<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T | null> {
  const stop = new AbortController();
  const end = () => {
    process.exitCode = ExitCode.interrupted;
    say("stopped: nothing is written down");
    stop.abort();
    // A statement that reads a big table does not listen.
    setTimeout(() => process.exit(), partingMs).unref();
  };
  process.once("SIGINT", end).once("SIGTERM", end);
  try {
    const outcome = await work(stop.signal);
    return stop.signal.aborted ? null : outcome;
  } catch (error) {
    if (stop.signal.aborted) return null;
    throw error;
  } finally {
    process.off("SIGINT", end).off("SIGTERM", end);
  }
}

/** The store is there, and knows the job. */
async function requireBook(options: RehearseOptions, label: string): Promise<void> {
  const { withStore } = await import("../store-url.ts");
  const { requireJob } = await import("../../store/job.ts");
  await withStore(options, (db) => requireJob(db, label));
}

async function record(
  options: RehearseOptions,
  label: string,
  rehearsal: { readonly reason: string },
): Promise<void> {
  const { withStore } = await import("../store-url.ts");
  const { requireJob } = await import("../../store/job.ts");
  const { recordOperation } = await import("../../store/operation.ts");
  const { rehearsalAction } = await import("../../store/checklist/job-rehearsals.ts");
  await withStore(options, async (db) => {
    const { jobId } = await requireJob(db, label);
    await recordOperation(db, {
      person: personOf(options),
      reason: rehearsal.reason,
      action: rehearsalAction,
      jobId,
      after: rehearsal,
    });
  });
}

function variable(text: string, before: Readonly<Record<string, string>>): Record<string, string> {
  const at = text.indexOf("=");
  if (at < 1) throw new EscapementError("E_USAGE", { what: `--set ${text}: write NAME=VALUE` });
  return { ...before, [text.slice(0, at)]: text.slice(at + 1) };
}

function also(text: string, before: readonly string[]): readonly string[] {
  return [...before, text];
}
