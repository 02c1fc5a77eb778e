/**
 * Runs one fire of a job twice in a scratch database and compares what is in it.
 *
 *   content ──▶ every shard ──▶ content ──▶ every shard again ──▶ content
 *                 the same identity: fire time, keys, fence token
 */
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { EscapementError, messageOf } from "../../base/errors.ts";
import type { Attempt } from "../../executor/attempt.ts";
import { attemptEnvironment } from "../../executor/attempt-environment.ts";
import { jobSchedule } from "../../schedule/job-schedule.ts";
import type { JobDefinition } from "../../spec/job-definition.ts";
import { periodKey } from "../../spec/period.ts";
import { shardCount } from "../../spec/shard-count.ts";
import { digestTables, findColumns, type TableDigest } from "../../store/checklist/table-digests.ts";
import { Database, sqlState } from "../../store/database.ts";
import { refuseRealPlaces } from "./real-places.ts";

export interface JobRehearsalOptions {
  readonly job: JobDefinition;
  /** In place of values of the job's environment: at least everything that points to a real database or service. */
  readonly replaced: Readonly<Record<string, string>>;
  /** Reads the whole scratch database. */
  readonly lookUrl: string;
  readonly fireTime: Date;
  /** `table.column` of stamps that change with every write. */
  readonly ignored: readonly string[];
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
}

export interface RehearsalOutcome {
  readonly verdict: "pass" | "fail" | "unknown";
  readonly reason: string;
  readonly changed: readonly string[];
  readonly repeated: readonly string[];
  /** `table.column` that was not compared. */
  readonly ignored: readonly string[];
  /** Variables that name a database which was not looked at. */
  readonly unseen: readonly string[];
}

/** What was left out of the comparison, and may be what was doubled. */
interface LeftOut {
  readonly unseen: readonly string[];
  /** Those of `--ignore` that hold no date or time. */
  readonly noStamps: readonly string[];
}

type Content = Record<string, TableDigest>;

/**
 * @throws E_REFUSED when the job would reach something real; E_UNAVAILABLE for the scratch database;
 *   E_BAD_VALUE when it is not there, or has no such column as one of `ignored`; the signal's reason
 */
export async function rehearseJob(options: JobRehearsalOptions): Promise<RehearsalOutcome> {
  const unseen = refuseRealPlaces(options.job, options.replaced, options.lookUrl);
  for (const name of unseen)
    options.say(`${name} names another database than --look: what is written there is not compared`);
  const db = new Database(options.lookUrl, {
    maxConnections: 1,
    applicationName: "escapement-rehearsal",
    queryTimeoutMs: 600_000,
  });
  try {
    const noStamps = await noTimes(db, options.ignored);
    return { ...(await twice(db, options, { unseen, noStamps })), ignored: options.ignored, unseen };
  } catch (error) {
    throw ofScratch(error);
  } finally {
    await db.end();
  }
}

async function twice(
  db: Database,
  options: JobRehearsalOptions,
  { unseen, noStamps }: LeftOut,
): Promise<Omit<RehearsalOutcome, "ignored" | "unseen">> {
  const empty = await digestTables(db, options.ignored);
  const first = await runFire(options);
  if (first !== null)
    return { verdict: "unknown", reason: `the first run failed: ${first}`, changed: [], repeated: [] };
  const once = await digestTables(db, options.ignored);
  const changed = differences(empty, once);
  if (changed.length === 0)
    return {
      verdict: "unknown",
      reason: "the first run changed nothing, so a repeat shows nothing",
      changed,
      repeated: [],
    };
  const second = await runFire(options);
  const repeated = differences(once, await digestTables(db, options.ignored));
  if (repeated.length > 0)
    return { verdict: "fail", reason: `the repeat changed ${repeated.join(", ")} again`, changed, repeated };
  if (second !== null) return { verdict: "fail", reason: `the repeat failed: ${second}`, changed, repeated };
  const left = [
    ...unseen.map((name) => `what ${name} names`),
    ...noStamps.map((path) => `${path}, which is no stamp`),
  ];
  if (left.length > 0)
    return {
      verdict: "unknown",
      reason: `not compared: ${left.join("; ")}; the repeat changed nothing else`,
      changed,
      repeated,
    };
  return { verdict: "pass", reason: "the repeat changed nothing", changed, repeated };
}

/** Those of `--ignore` that hold no date or time: what is left out there may be money. */
async function noTimes(db: Database, ignored: readonly string[]): Promise<readonly string[]> {
  const found = await findColumns(db, ignored);
  const missing = ignored.find((path) => !found.has(path));
  if (missing !== undefined)
    throw new EscapementError("E_BAD_VALUE", {
      option: "--ignore",
      value: missing,
      expected: "a column of the scratch database",
      hint: "write table.column, or schema.table.column outside of public",
    });
  return ignored.filter((path) => !found.get(path)!.isTime);
}

/** The scratch database is not the record store: the message says which of the two is meant. */
function ofScratch(error: unknown): unknown {
  if (!(error instanceof EscapementError) || error.code !== "E_STORE_UNAVAILABLE") return error;
  const reason = error.cause === undefined ? error.message : messageOf(error.cause);
  if (sqlState(error) === "3D000")
    return new EscapementError(
      "E_BAD_VALUE",
      {
        option: "--look",
        value: "what it names",
        expected: `there: ${reason}`,
        hint: "make the scratch database first",
      },
      { cause: error },
    );
  return new EscapementError(
    "E_UNAVAILABLE",
    { what: `the scratch database does not answer: ${reason}`, hint: "check the URL of --look" },
    { cause: error },
  );
}

function differences(before: Content, after: Content): string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return names.filter(
    (name) => before[name]?.rows !== after[name]?.rows || before[name]?.md5 !== after[name]?.md5,
  );
}

/** The last fire that is over, so that it is a plausible one; of a job without fires this minute. */
export function lastFire(job: JobDefinition, now: Date): Date {
  const fire = jobSchedule(job)?.previous(now.getTime());
  return new Date(fire ?? Math.floor(now.getTime() / 60_000) * 60_000);
}

/** @returns null when every shard ended with 0, else what the first other one said */
async function runFire(options: JobRehearsalOptions): Promise<string | null> {
  const { job, say } = options;
  if (job.shards.by === "frozen")
    throw new EscapementError("E_USAGE", {
      what: "a job that freezes its input needs an executor; rehearse its program by hand",
    });
  const shards = shardCount(job);
  for (let shardNo = 0; shardNo < shards; shardNo += 1) {
    options.signal.throwIfAborted();
    say(`shard ${shardNo + 1} of ${shards}`);
    const failure = await runShard(options, shardNo, shards);
    // A run that somebody stopped says nothing about the job.
    options.signal.throwIfAborted();
    if (failure !== null) return `shard ${shardNo}: ${failure}`;
  }
  return null;
}

/** One of each program: two runs of one shard are two attempts that know nothing of each other. */
const executionId = randomUUID();
/** Above every real one: a copy of a real database knows the tokens that were there. */
const fenceToken = 2 ** 62;

function runShard(
  { job, replaced, fireTime, signal }: JobRehearsalOptions,
  shardNo: number,
  shards: number,
): Promise<string | null> {
  const attempt = {
    job: `${job.namespace}/${job.name}`,
    definition: job,
    claim: { shardNo, attempt: 1, fenceToken },
    order: {
      fireTime,
      shardCount: shards,
      executionId,
      runNo: 1,
      periodKey: job.period ? periodKey(job.period, job.timeZone, fireTime) : null,
    },
    lease: { incarnation: executionId },
    capability: "rehearsal",
  } as unknown as Attempt;
  const { ESCAPEMENT_SOCKET: _, ...identity } = attemptEnvironment(attempt, "", process.env);
  return new Promise((resolve) => {
    const child = spawn(job.command[0]!, job.command.slice(1), {
      env: { ...identity, ...replaced },
      ...(job.workingDirectory !== undefined && { cwd: job.workingDirectory }),
      stdio: ["ignore", "ignore", "pipe"],
      timeout: job.timeoutMs,
      killSignal: "SIGKILL",
      signal,
    });
    let words = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      words = `${words}${text}`.slice(-2_000);
    });
    child.on("error", (error) => resolve(error.message));
    child.on("close", (code, killed) => {
      if (code === 0) return resolve(null);
      const last = words.trim().split("\n").at(-1) ?? "";
      resolve(`${killed ? `ended by ${killed}` : `exit ${code}`}${last ? `: ${last}` : ""}`);
    });
  });
}
