/** Two things that must be refused: a late write of an attempt that was given up, and a second run of a month. */
import { spawn } from "node:child_process";
import { isEscapementError } from "../../base/errors.ts";
import { formatInstant } from "../../base/instant.ts";
import type { JobDefinition } from "../../spec/job-definition.ts";
import { heavyKeys, ordinaryShardCount, shardCount } from "../../spec/shard-count.ts";
import type { Database } from "../../store/database.ts";
import { requireJob } from "../../store/job.ts";
import { runManually } from "../../store/manual-run.ts";
import type { LostAttempt } from "./records.ts";

export interface Refusal {
  readonly what: string;
  readonly refused: boolean;
  /** What was said. */
  readonly answer: string;
}

/**
 * Starts the job's program once more as the killed attempt, with its old fence
 * token, as if it had only been frozen and woke up now.
 */
export async function tryLateWrite(job: JobDefinition, attempt: LostAttempt): Promise<Refusal> {
  const heavy = heavyKeys(job);
  const ordinary = ordinaryShardCount(job);
  const own = heavy[attempt.shardNo - ordinary];
  const fireTime = formatInstant(new Date(attempt.fireMs));
  const [program, ...args] = job.command;
  const child = spawn(program === "node" ? process.execPath : program!, args, {
    ...(job.workingDirectory === undefined ? {} : { cwd: job.workingDirectory }),
    stdio: ["ignore", "ignore", "pipe"],
    env: {
      PATH: process.env.PATH,
      ...job.environment,
      TZ: "UTC",
      ESCAPEMENT_JOB: attempt.job,
      ESCAPEMENT_FIRE_TIME: fireTime,
      ESCAPEMENT_SHARD_NO: String(attempt.shardNo),
      ESCAPEMENT_SHARD_COUNT: String(shardCount(job)),
      ESCAPEMENT_ATTEMPT: String(attempt.attempt),
      ESCAPEMENT_FENCE_TOKEN: String(attempt.fenceToken),
      ESCAPEMENT_HASH_SHARDS: String(ordinary),
      ...(attempt.period === null ? {} : { ESCAPEMENT_PERIOD: attempt.period }),
      ...(own === undefined
        ? { ESCAPEMENT_HEAVY_KEYS: JSON.stringify(heavy) }
        : { ESCAPEMENT_SHARD_KEY: own }),
    },
  });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  const code = await new Promise<number | null>((resolve) => {
    child.once("error", () => resolve(null));
    child.once("close", resolve);
  });
  const answer =
    /^(?:Error: )?(refused: .*)$/m.exec(said)?.[1] ?? (said.trim().split("\n").at(-1) || `exit code ${code}`);
  const where = `shard ${attempt.shardNo} of ${attempt.period ?? fireTime}`;
  return {
    what: `a late write of attempt ${attempt.attempt} at ${where}, token ${attempt.fenceToken}`,
    refused: code !== 0 && code !== null && answer.startsWith("refused"),
    answer,
  };
}

/** Asks for a second execution of a month that has been settled. */
export async function trySecondRun(store: Database, job: JobDefinition, period: string): Promise<Refusal> {
  const what = `a second ${job.name} of ${period}, by hand`;
  try {
    await runManually(store, await requireJob(store, `${job.namespace}/${job.name}`), {
      person: "demo",
      reason: "a second time, to see it refused",
      period,
    });
    return { what, refused: false, answer: "accepted" };
  } catch (error) {
    if (!isEscapementError(error) || error.code !== "E_REFUSED") throw error;
    return { what, refused: true, answer: error.message };
  }
}
