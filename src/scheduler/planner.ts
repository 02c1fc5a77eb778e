/**
 * Plans ahead: takes the jobs whose cursors are due, computes their fires, and
 * writes them in fenced statements of bounded size. Between two statements the
 * caller may renew its lease, so that a long backlog never costs the leadership.
 */

import { messageOf } from "../base/errors.ts";
import { shardCount } from "../spec/shard-count.ts";
import { raiseAlert } from "../store/alert.ts";
import type { Database } from "../store/database.ts";
import {
  definitionsSince,
  ensurePartitions,
  type PlannedFire,
  type PlannedJob,
  type PlanningJob,
  plannedRows,
  planningWork,
  readDefinitions,
  type VersionedDefinition,
  writePlan,
} from "../store/planning.ts";
import { pieces, planJob } from "./job-plan.ts";
import type { Term } from "./term.ts";

export interface PlannerSettings {
  readonly lookAheadMs: number;
  /** Rows of one fenced statement. */
  readonly maxRows: number;
  /** Jobs read at a time. */
  readonly batchJobs: number;
}

export interface PassResult {
  readonly jobs: number;
  readonly planned: number;
  readonly missed: number;
  /** The longest fenced statement. */
  readonly longestMs: number;
  /** True when there was more than one batch could take: call again at once. */
  readonly more: boolean;
}

export const defaultPlannerSettings = { maxRows: 2_000, batchJobs: 500 } as const;

export class Planner {
  readonly #db: Database;
  readonly #settings: PlannerSettings;
  readonly #definitions = new Map<number, VersionedDefinition>();
  readonly #months = new Set<string>();
  /** Versions that could not be planned and were reported. */
  readonly #reported = new Set<string>();

  constructor(db: Database, settings: PlannerSettings) {
    this.#db = db;
    this.#settings = settings;
  }

  /**
   * One pass over the jobs that are due for planning.
   * @param beat called between statements; throws when the term is over.
   * @throws SQLSTATE ES001 when the store says that the term is over
   */
  async pass(term: Term, beat: () => Promise<void>): Promise<PassResult> {
    const { lookAheadMs, batchJobs, maxRows } = this.#settings;
    // A cursor is moved on once a quarter of the look-ahead is used up.
    const work = await planningWork(this.#db, lookAheadMs - Math.min(lookAheadMs / 4, 30_000), batchJobs);
    await this.#loadDefinitions(work.jobs);
    const nowMs = work.now.getTime();
    const totals = { planned: 0, missed: 0, longestMs: 0 };
    let moved = 0;
    let chunk: PlannedJob[] = [];
    let rows = 0;
    const flush = async () => {
      if (chunk.length === 0) return;
      const started = performance.now();
      const result = await writePlan(this.#db, term.holder, term.epoch, chunk);
      totals.longestMs = Math.max(totals.longestMs, performance.now() - started);
      totals.planned += result.planned;
      moved += result.moved;
      chunk = [];
      rows = 0;
      await beat();
    };
    for (const job of work.jobs) {
      const versions = await this.#versionsOf(job);
      const plan = await this.#tryPlan(job, () => planJob(job, versions, nowMs, nowMs + lookAheadMs));
      if (!plan) continue;
      totals.missed += plan.fires.filter((fire) => fire.status === "missed").length;
      await this.#makePartitions(plan);
      for (const piece of pieces(plan, maxRows, rowsOfFire)) {
        const size = plannedRows(piece);
        // One statement moves a cursor once, so two pieces of one job never share a statement.
        if (rows + size > maxRows || chunk.some((other) => other.jobId === piece.jobId)) await flush();
        chunk.push(piece);
        rows += size;
      }
    }
    await flush();
    return { jobs: work.jobs.length, ...totals, more: work.jobs.length === batchJobs && moved > 0 };
  }

  /** A definition that cannot be planned (a zone that this Node does not know) must not stop all other jobs. */
  async #tryPlan(job: PlanningJob, plan: () => PlannedJob): Promise<PlannedJob | undefined> {
    try {
      return plan();
    } catch (error) {
      const version = `${job.jobId}:${job.version}`;
      if (!this.#reported.has(version)) {
        await raiseAlert(this.#db, {
          dedupKey: `job-unplannable:${version}`,
          kind: "job-unplannable",
          severity: "critical",
          jobId: job.jobId,
          message: `version ${job.version} of this job cannot be planned, and does not fire: ${messageOf(error)}`,
        });
        this.#reported.add(version);
      }
      return undefined;
    }
  }

  /** Reads what is not cached; versions never change, so a cached one is right for ever. */
  async #loadDefinitions(jobs: readonly PlanningJob[]): Promise<void> {
    const wanted = jobs.filter((job) => this.#definitions.get(job.jobId)?.version !== job.version);
    if (wanted.length === 0) return;
    for (const found of await readDefinitions(this.#db, wanted)) this.#definitions.set(found.jobId, found);
  }

  async #versionsOf(job: PlanningJob): Promise<readonly VersionedDefinition[]> {
    // Fires from before the last edit belong to the definition that was in force then.
    if (job.plannedUntil < job.effectiveFrom) return definitionsSince(this.#db, job.jobId, job.plannedUntil);
    return [this.#definitions.get(job.jobId)!];
  }

  async #makePartitions(plan: PlannedJob): Promise<void> {
    const months = new Set(plan.fires.map((fire) => fire.fireTime.toISOString().slice(0, 7)));
    if ([...months].every((month) => this.#months.has(month))) return;
    await ensurePartitions(this.#db, plan.fires[0]!.fireTime, plan.fires.at(-1)!.fireTime);
    for (const month of months) this.#months.add(month);
  }
}

function rowsOfFire(fire: PlannedFire): number {
  return fire.status === "planned" ? 2 + shardCount(fire.definition.definition) : 1;
}
