/** A record store as the watchman sees it, through a login of its own role. */
import type { JobDefinition } from "../../src/spec/job-definition.ts";
import type { JobRow } from "../../src/store/job.ts";
import { openDue } from "../../src/store/opening.ts";
import { ensurePartitions } from "../../src/store/planning.ts";
import { DigestBook } from "../../src/watchman/digest-book.ts";
import type { Finding } from "../../src/watchman/finding.ts";
import { judge } from "../../src/watchman/judge.ts";
import type { Picture } from "../../src/watchman/picture.ts";
import { PictureReader } from "../../src/watchman/picture-reader.ts";
import { defaultWatchSettings, type WatchSettings } from "../../src/watchman/settings.ts";
import { Bench } from "../store/bench.ts";
import { testJob } from "../support/job.ts";

export const minuteMs = 60_000;

export class WatchBench {
  readonly bench: Bench;
  readonly settings: WatchSettings;
  readonly #reader: PictureReader;

  private constructor(bench: Bench, reader: PictureReader, settings: WatchSettings) {
    this.bench = bench;
    this.settings = settings;
    this.#reader = reader;
  }

  /** Led, with one executor's worth of life. */
  static async open(change: Partial<WatchSettings> = {}): Promise<WatchBench> {
    const bench = await Bench.open();
    await bench.lead();
    const settings = { ...defaultWatchSettings, ...change };
    const { db } = await bench.as("watchman");
    const clock = { readings: () => [], source: () => null };
    return new WatchBench(bench, new PictureReader(db, settings, new DigestBook(null), clock), settings);
  }

  read(): Promise<Picture> {
    return this.#reader.read();
  }

  async findings(): Promise<Finding[]> {
    return judge(await this.read(), this.settings);
  }

  async rules(): Promise<string[]> {
    return (await this.findings()).map(({ rule }) => rule);
  }

  /** A job that has been known for a while; its cursor stands where it became known. */
  async job(name: string, knownMs: number, change: Partial<JobDefinition>): Promise<JobRow> {
    const job = await this.bench.apply(testJob(name, { blocking: { policy: "allow" }, ...change }));
    const since = new Date((await this.bench.now()).getTime() - knownMs);
    await this.bench.db.query(
      `WITH v AS (UPDATE escapement.job_version SET effective_from = $2 WHERE job_id = $1)
       UPDATE escapement.job SET known_since = $2, planned_until = $2, state_since = $2 WHERE job_id = $1`,
      [job.jobId, since],
    );
    return this.bench.job(name);
  }

  /** The last instants before now that divide evenly, oldest first. */
  async pastFires(everyMs: number, count: number): Promise<Date[]> {
    const last = Math.floor((await this.bench.now()).getTime() / everyMs) * everyMs;
    return Array.from({ length: count }, (_, i) => new Date(last - (count - 1 - i) * everyMs));
  }

  /** Writes executions that ended with success, each `tookMs` long, as if they had run in their time. */
  async succeed(job: JobRow, fires: readonly Date[], tookMs = 1_000, rows = 100): Promise<void> {
    await ensurePartitions(this.bench.db, fires[0]!, fires.at(-1)!);
    await this.bench.db.query(
      `WITH e AS (
         INSERT INTO escapement.execution (job_id, fire_time, trigger_type, status, job_version, digest, shard_count, schedule_time,
           opened_at, actual_start_time, actual_end_time, duration_ms, missed_seconds)
         SELECT $1, f, 'schedule', 'success', $3, '', 1, f, f, f, f + $4 * interval '1 ms', $4, 0 FROM unnest($2::timestamptz[]) f)
       INSERT INTO escapement.shard (job_id, fire_time, shard_no, status, attempt, rows) SELECT $1, f, 0, 'success', 1, $5 FROM unnest($2::timestamptz[]) f`,
      [job.jobId, fires, job.version, tookMs, rows],
    );
    await this.bench.db.query(
      "UPDATE escapement.job SET planned_until = greatest(planned_until, $2) WHERE job_id = $1",
      [job.jobId, fires.at(-1)!],
    );
  }

  open(): Promise<unknown> {
    return openDue(this.bench.db);
  }
}
