/**
 * The life of records, simulated: the same statements in the same order as the
 * store's functions `plan`, `open_due`, `claim` and `complete` issue them, on
 * simulated tables. One month; months do not touch each other.
 */
import {
  executionLiveVacuum,
  fails,
  jobsOfRound,
  type RecordPattern,
  recordVacuum,
  shardLiveVacuum,
} from "./record-pattern.ts";
import { type RecordRows, recordRows } from "./record-rows.ts";
import type { QueuedShard, RunningExecution } from "./record-run.ts";
import type { RecordShapes } from "./record-shape.ts";
import { type Keys, TableSimulation, type TableSizes } from "./table-simulation.ts";
import type { RowWidths, TableShape } from "./tuple.ts";
import { WalMeter } from "./wal-meter.ts";

export interface RecordSizes {
  readonly execution: TableSizes;
  readonly shard: TableSizes;
  readonly attempt: TableSizes;
  readonly walBytes: number;
  /** The part of the log that is full page images. */
  readonly imageShare: number;
  /** Largest the two live tables and their indexes have been. */
  readonly liveBytes: number;
  readonly transactions: number;
}

/** Room for 16,384 shards an execution and 1,048,576 executions a job in one number. */
const executionStep = 2 ** 14;
const jobStep = 2 ** 34;
const commitBytes = 34;
/** A sequence logs itself once in 32 values. */
const sequenceBytes = 99;

export class RecordSimulation {
  readonly #pattern: RecordPattern;
  readonly #rows: RecordRows;
  readonly #wal = new WalMeter();
  readonly #execution: TableSimulation;
  readonly #shard: TableSimulation;
  readonly #attempt: TableSimulation;
  readonly #executionLive: TableSimulation;
  readonly #shardLive: TableSimulation;
  readonly #job: TableSimulation;
  readonly #jobRow: number[] = [];
  readonly #queue: QueuedShard[] = [];
  #walAtStart = 0;
  #done = 0;
  #sinceCheckpoint = 0;
  #firstAttempts = 0;
  #order = 0;
  #transactions = 0;
  #mostLive = 0;

  /** @param isExcerpt the jobs of the pattern are some of many. */
  constructor(pattern: RecordPattern, shapes: RecordShapes, isExcerpt = false) {
    this.#pattern = pattern;
    const rows = recordRows({
      shardText: pattern.shardText,
      attemptText: pattern.attemptText,
      jobName: 8,
      digest: 64,
    });
    this.#rows = rows;
    const wal = this.#wal;
    const keyed = (shape: TableShape, sample: RowWidths) =>
      new TableSimulation(wal, shape, sample, { [`${shape.name}_pkey`]: tellKeys }, isExcerpt);
    this.#execution = keyed(shapes.execution, rows.execution.planned);
    this.#shard = keyed(shapes.shard, rows.shard.pending);
    this.#attempt = keyed(shapes.shard_attempt, rows.attempt);
    this.#executionLive = keyed(shapes.execution_live, rows.executionLive);
    this.#shardLive = keyed(shapes.shard_live, rows.shardLive.claimed);
    this.#job = new TableSimulation(wal, shapes.job, rows.job);
  }

  /** Runs the whole month. */
  run(): RecordSizes {
    const { jobs, rounds, planBatch, how } = this.#pattern;
    for (let job = 1; job <= jobs; job++) {
      const keys = { job_pkey: job, job_namespace_name_key: job, job_cursor: job };
      this.#jobRow[job] = this.#job.insert(this.#rows.job, keys);
    }
    this.#commit();
    this.#walAtStart = this.#wal.total;
    for (let round = 0; round < rounds; round++) {
      const running = jobsOfRound(this.#pattern, round);
      for (let first = 0; first < running.length; first += planBatch) {
        const batch = running.slice(first, first + planBatch);
        if (how === "import") this.#import(batch, round);
        else this.#live(batch, round);
      }
    }
    return this.#sizes();
  }

  #import(jobs: readonly number[], number: number): void {
    const { shards } = this.#pattern;
    for (const job of jobs) {
      const key = job * jobStep + number * executionStep;
      this.#execution.insert(this.#rows.execution.ended, { execution_pkey: key });
      for (let shard = 0; shard < shards; shard++)
        this.#shard.insert(this.#rows.shard.ended, { shard_pkey: key + shard });
      this.#done += shards;
      this.#sinceCheckpoint += shards;
    }
    this.#commit();
    this.#maybeCheckpoint();
  }

  #live(jobs: readonly number[], number: number): void {
    this.#open(this.#plan(jobs, number));
    while (this.#queue.length > 0) this.#complete(this.#claim());
    this.#vacuum();
    this.#maybeCheckpoint();
  }

  #plan(jobs: readonly number[], number: number): RunningExecution[] {
    const { shards } = this.#pattern;
    const executions = jobs.map((job): RunningExecution => {
      const key = job * jobStep + number * executionStep;
      return { job, key, due: this.#order++, row: 0, live: 0, started: false, left: shards, shards: [] };
    });
    for (const one of executions) {
      const keys = { job_pkey: one.job, job_namespace_name_key: one.job, job_cursor: one.due };
      this.#jobRow[one.job] = this.#job.update(this.#jobRow[one.job]!, this.#rows.job, keys, false, 20);
    }
    for (const one of executions) {
      one.row = this.#execution.insert(this.#rows.execution.planned, { execution_pkey: one.key });
      one.live = this.#executionLive.insert(this.#rows.executionLive, {
        execution_live_pkey: one.key,
        execution_live_due: one.due,
      });
      for (let shard = 0; shard < shards; shard++) {
        one.shards.push(this.#shard.insert(this.#rows.shard.pending, { shard_pkey: one.key + shard }));
      }
    }
    this.#commit();
    return executions;
  }

  #open(executions: readonly RunningExecution[]): void {
    for (const one of executions) {
      this.#job.lock(this.#jobRow[one.job]!);
      one.live = this.#executionLive.update(
        one.live,
        this.#rows.executionLive,
        { execution_live_pkey: one.key },
        false,
        20,
      );
      one.row = this.#execution.update(one.row, this.#rows.execution.opened, { execution_pkey: one.key });
      for (let shard = 0; shard < one.left; shard++) {
        const live = this.#shardLive.insert(this.#rows.shardLive.ready, this.#readyKeys(one, shard, one.due));
        this.#queue.push({ execution: one, shard, live, tries: 0 });
      }
    }
    this.#commit();
  }

  #claim(): QueuedShard[] {
    const claimed = this.#queue.splice(0, this.#pattern.claimBatch);
    for (const one of claimed) this.#shardLive.lock(one.live);
    for (const { execution } of claimed) {
      if (execution.started) continue;
      execution.started = true;
      this.#executionLive.lock(execution.live);
      // Whether it has started is part of an index's condition.
      this.#touchLive(execution, false);
      execution.row = this.#execution.update(execution.row, this.#rows.execution.running, {
        execution_pkey: execution.key,
      });
    }
    for (const one of claimed) {
      const keys: Keys = { shard_live_pkey: one.execution.key + one.shard, shard_live_owner: 1 };
      one.live = this.#shardLive.update(one.live, this.#rows.shardLive.claimed, keys, false);
      one.tries++;
    }
    this.#wal.plain("commit", Math.ceil(claimed.length / 32) * sequenceBytes);
    this.#commit();
    return claimed;
  }

  #complete(claimed: readonly QueuedShard[]): void {
    const counts = new Map<RunningExecution, number>();
    for (const one of claimed) this.#shardLive.lock(one.live);
    for (const one of claimed) {
      const { execution, shard } = one;
      if (one.tries === 1 && fails(this.#pattern, ++this.#firstAttempts)) {
        this.#attempt.insert(this.#rows.attempt, { shard_attempt_pkey: execution.key + shard });
        one.live = this.#shardLive.update(
          one.live,
          this.#rows.shardLive.again,
          this.#readyKeys(execution, shard, this.#order++),
          false,
        );
        this.#queue.push(one);
        continue;
      }
      this.#shardLive.delete(one.live);
      execution.shards[shard] = this.#shard.update(execution.shards[shard]!, this.#rows.shard.ended, {
        shard_pkey: execution.key + shard,
      });
      counts.set(execution, (counts.get(execution) ?? 0) + 1);
      this.#done++;
      this.#sinceCheckpoint++;
    }
    for (const [execution, count] of counts) {
      execution.left -= count;
      this.#executionLive.lock(execution.live);
      this.#touchLive(execution, true);
      if (execution.left > 0) continue;
      this.#executionLive.delete(execution.live);
      execution.row = this.#execution.update(execution.row, this.#rows.execution.ended, {
        execution_pkey: execution.key,
      });
    }
    this.#commit();
  }

  #readyKeys(execution: RunningExecution, shard: number, runAfter: number): Keys {
    return { shard_live_pkey: execution.key + shard, shard_live_ready: runAfter };
  }

  #touchLive(execution: RunningExecution, mayBeHot: boolean): void {
    execution.live = this.#executionLive.update(
      execution.live,
      this.#rows.executionLive,
      { execution_live_pkey: execution.key },
      mayBeHot,
      10,
    );
  }

  #vacuum(): void {
    const live = [this.#executionLive, this.#shardLive].map((table) => table.sizes());
    this.#mostLive = Math.max(
      this.#mostLive,
      live.reduce((sum, { heapBytes, indexBytes }) => sum + heapBytes + indexBytes, 0),
    );
    for (const table of [this.#execution, this.#shard, this.#attempt, this.#job]) {
      table.autovacuum(recordVacuum.threshold, recordVacuum.scale);
    }
    this.#executionLive.autovacuum(executionLiveVacuum.threshold, executionLiveVacuum.scale);
    this.#shardLive.autovacuum(shardLiveVacuum.threshold, shardLiveVacuum.scale);
  }

  #maybeCheckpoint(): void {
    const { checkpointEvery } = this.#pattern;
    if (checkpointEvery === 0 || this.#sinceCheckpoint < checkpointEvery) return;
    this.#sinceCheckpoint = 0;
    this.#wal.checkpoint();
  }

  #commit(): void {
    this.#transactions++;
    this.#wal.plain("commit", commitBytes);
    for (const table of [
      this.#execution,
      this.#shard,
      this.#attempt,
      this.#executionLive,
      this.#shardLive,
      this.#job,
    ])
      table.commit();
  }

  #sizes(): RecordSizes {
    const walBytes = this.#wal.total - this.#walAtStart;
    return {
      execution: this.#execution.sizes(),
      shard: this.#shard.sizes(),
      attempt: this.#attempt.sizes(),
      walBytes,
      imageShare: this.#wal.byKind().image / this.#wal.total,
      liveBytes: this.#mostLive,
      transactions: this.#transactions,
    };
  }
}

/** Job, then fire time, then shard number (then attempt). */
function tellKeys(a: number, b: number): number {
  if (Math.floor(a / jobStep) !== Math.floor(b / jobStep)) return 1;
  if (Math.floor(a / executionStep) !== Math.floor(b / executionStep)) return 2;
  return a === b ? 5 : 3;
}
