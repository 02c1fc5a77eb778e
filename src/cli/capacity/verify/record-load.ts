/**
 * Really loads what a pattern describes, through the record store's own
 * functions, and vacuums when autovacuum would, so that a run can be repeated.
 */
import { randomUUID } from "node:crypto";
import {
  executionLiveVacuum,
  fails,
  jobsOfRound,
  type RecordPattern,
  recordVacuum,
  shardLiveVacuum,
} from "../../../capacity/storage/record-pattern.ts";
import { claimShards } from "../../../store/claim.ts";
import { type AttemptEnd, completeAttempts } from "../../../store/completion.ts";
import type { Database } from "../../../store/database.ts";
import { registerExecutor } from "../../../store/executor.ts";
import { acquireLeadership } from "../../../store/leadership.ts";
import { VacuumClock } from "./vacuum-clock.ts";

const day = 86_400_000;
/** Fires of a month lie in its first 27 days, so that no time zone moves one into the next month. */
const monthMs = 27 * day;
const incarnation = randomUUID();

/** The first instant of each month that a pattern fills, oldest first; all lie in the past. */
export function monthsOf(pattern: RecordPattern, now: Date): Date[] {
  return Array.from(
    { length: pattern.months },
    (_, i) => new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - pattern.months - 1 + i, 1)),
  );
}

export class RecordLoad {
  readonly #db: Database;
  readonly #pattern: RecordPattern;
  readonly #months: readonly Date[];
  readonly #vacuum: VacuumClock;
  /** Random letters: a text that does not compress, cut to length. */
  readonly #shardText: string | null;
  readonly #attemptText: string;
  readonly #cursor = new Map<number, Date>();
  #epoch = 0;
  #firstAttempts = 0;
  #sinceCheckpoint = 0;

  constructor(db: Database, pattern: RecordPattern, months: readonly Date[]) {
    this.#db = db;
    this.#pattern = pattern;
    this.#months = months;
    this.#vacuum = new VacuumClock(db);
    this.#shardText = pattern.shardText > 0 ? letters(pattern.shardText) : null;
    this.#attemptText = letters(Math.max(1, pattern.attemptText));
  }

  /** Jobs, an executor and a leader; partitions for every month; autovacuum off, because the load decides when. */
  async prepare(): Promise<void> {
    const { jobs } = this.#pattern;
    const first = this.#months[0]!;
    const last = this.#months.at(-1)!;
    await this.#db.query("SELECT escapement.ensure_partitions($1, $2)", [first, last]);
    await this.#db.query(
      `INSERT INTO escapement.job (namespace, name, state, version, known_since, planned_until)
       SELECT 'default', 'job-' || lpad(n::text, 4, '0'), 'active', 1, $2, $2 FROM generate_series(1, $1) n`,
      [jobs, first],
    );
    const identity = {
      incarnation,
      node: "verify",
      host: "verify",
      bootId: "1",
      pid: process.pid,
      processStart: "1",
      version: "1",
    };
    this.#vacuum.inserted("job", undefined, jobs);
    await registerExecutor(this.#db, identity, 7 * day, { cpu: 100, memory: 0, io: 0, control: 0 });
    const leader = await acquireLeadership(
      this.#db,
      { holder: incarnation, node: "verify", host: "verify" },
      7 * day,
    );
    this.#epoch = leader ?? 0;
  }

  async run(progress: (shards: number) => void): Promise<void> {
    const { rounds, planBatch, how, shards } = this.#pattern;
    const stepMs = Math.floor(monthMs / rounds);
    let done = 0;
    for (const month of this.#months) {
      for (let round = 0; round < rounds; round++) {
        const at = month.getTime() + round * stepMs + 1_000;
        const running = jobsOfRound(this.#pattern, round);
        for (let first = 0; first < running.length; first += planBatch) {
          const batch = running.slice(first, first + planBatch);
          if (how === "import") await this.#import(batch, at);
          else await this.#live(batch, at, month);
          done += batch.length * shards;
          await this.#maybeCheckpoint(batch.length * shards);
          progress(done);
        }
      }
    }
  }

  async #import(jobs: readonly number[], at: number): Promise<void> {
    const { shards } = this.#pattern;
    await this.#db.transaction(async (tx) => {
      await tx.query(
        `INSERT INTO escapement.execution (job_id, fire_time, trigger_type, status, job_version, digest, shard_count, schedule_time,
           opened_at, actual_start_time, actual_end_time, duration_ms, missed_seconds, epoch)
         SELECT j, t, 'schedule', 'success', 1, repeat('0', 64), $3, t, t, t, t, 1, 0, 1
         FROM unnest($1::integer[]) j, LATERAL (SELECT $2::timestamptz + make_interval(secs => j / 1000.0) AS t) x`,
        [jobs, new Date(at), shards],
      );
      await tx.query(
        `INSERT INTO escapement.shard (job_id, fire_time, shard_no, status, attempt, owner, fence_token, start_time, end_time, rows, error)
         SELECT j, t, s, 'success', 1, $4, 1, t, t, 1, $5
         FROM unnest($1::integer[]) j, LATERAL (SELECT $2::timestamptz + make_interval(secs => j / 1000.0) AS t) x,
           generate_series(0, $3::integer - 1) s`,
        [jobs, new Date(at), shards, incarnation, this.#shardText],
      );
    });
  }

  async #live(jobs: readonly number[], at: number, month: Date): Promise<void> {
    const { shards } = this.#pattern;
    // Jobs fire a millisecond apart, so that each execution has a key of its own in every index.
    const fireTime = (job: number) => new Date(at + job);
    const cursors = jobs.map((job) => ({
      job_id: job,
      version: 1,
      state: "active",
      from: this.#cursor.get(job) ?? this.#months[0],
      to: fireTime(job),
    }));
    for (const job of jobs) this.#cursor.set(job, fireTime(job));
    const fires = jobs.map((job) => ({
      job_id: job,
      fire_time: fireTime(job),
      status: "planned",
      trigger_type: "schedule",
      shard_count: shards,
      class: 1,
      max_tries: 5,
      misfire_threshold_ms: 1e13,
      blocking: "allow",
      continue_fenced: false,
      freezes: false,
      version: 1,
      digest: "0".repeat(64),
    }));
    await this.#db.query("SELECT escapement.plan($1, $2, $3::jsonb, $4::jsonb)", [
      incarnation,
      this.#epoch,
      JSON.stringify(cursors),
      JSON.stringify(fires),
    ]);
    const count = jobs.length;
    this.#vacuum.inserted("execution", month, count);
    this.#vacuum.inserted("shard", month, count * shards);
    await this.#db.query("SELECT escapement.open_due($1)", [count]);
    this.#vacuum.changed("job", undefined, count);
    this.#vacuum.changed("execution", month, 3 * count);
    this.#vacuum.changed("execution_live", undefined, 4 * count);
    while (await this.#round(month));
    await this.#vacuum.run([
      ["execution", month, recordVacuum],
      ["shard", month, recordVacuum],
      ["job", undefined, recordVacuum],
      ["execution_live", undefined, executionLiveVacuum],
      ["shard_live", undefined, shardLiveVacuum],
    ]);
  }

  /** Claims a batch and completes it. Returns false when nothing was left. */
  async #round(month: Date): Promise<boolean> {
    const claimed = await claimShards(this.#db, {
      incarnation,
      class: "cpu",
      limit: this.#pattern.claimBatch,
      catchUp: false,
      catchUpShare: 0.5,
    });
    if (claimed.length === 0) return false;
    let ended = 0;
    const ends = claimed.map((shard): AttemptEnd => {
      const isRetry = shard.tries === 1 && fails(this.#pattern, ++this.#firstAttempts);
      if (!isRetry) ended++;
      return {
        ...shard,
        outcome: isRetry ? "retry" : "success",
        delayMs: 0,
        rows: isRetry ? null : 1,
        exitCode: isRetry ? 1 : 0,
        error: isRetry ? this.#attemptText : this.#shardText,
      };
    });
    await completeAttempts(this.#db, incarnation, ends);
    this.#vacuum.changed("shard", month, ended);
    this.#vacuum.changed("shard_live", undefined, 2 * claimed.length);
    return true;
  }

  async #maybeCheckpoint(shards: number): Promise<void> {
    const { checkpointEvery } = this.#pattern;
    this.#sinceCheckpoint += shards;
    if (checkpointEvery === 0 || this.#sinceCheckpoint < checkpointEvery) return;
    this.#sinceCheckpoint = 0;
    await this.#db.query("CHECKPOINT");
  }
}

function letters(length: number): string {
  let text = "";
  while (text.length < length) text += randomUUID().replaceAll("-", "");
  return text.slice(0, length);
}
