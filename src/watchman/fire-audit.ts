/**
 * Checks that every expected fire has a row, each fire once.
 *
 * Two lanes. The recent one follows the clock; the deep one starts a day back
 * when the watchman starts, and works its way up to where the recent one began.
 * A fire without a row is asked for again in every pass until it has one, or
 * until it is too old to matter. A job with many of them is not asked about
 * further ones before those have rows: an outage of a day stays cheap.
 */
import { expectedFires } from "./expected-fires.ts";
import type { WatchedJob } from "./picture.ts";

export interface FireKey {
  readonly jobId: number;
  readonly fireTime: Date;
}

/** Answers which of the fires have no row. */
export type AbsentLookup = (fires: readonly FireKey[]) => Promise<FireKey[]> | FireKey[];

export interface AuditSettings {
  /** A fire younger than this may have no row yet. */
  readonly settleMs: number;
  /** How far back the deep lane begins, and how long an absent fire is remembered. */
  readonly depthMs: number;
  readonly rememberMs: number;
  /** Absent fires remembered, and fires asked for in a pass, for one job. */
  readonly perJob: number;
  /** Fires of the deep lane asked for in one pass. */
  readonly deepPerPass: number;
}

export const defaultAuditSettings: AuditSettings = {
  settleMs: 60_000,
  depthMs: 86_400_000,
  rememberMs: 3 * 86_400_000,
  perJob: 20,
  deepPerPass: 10_000,
};

/** The recent lane begins this far back: far enough for a restart of the watchman. */
const recentMs = 10 * 60_000;

interface Lane {
  /** Each job's fires up to here have been asked for. */
  readonly checkedUntil: Map<number, number>;
  readonly startMs: number;
  readonly endMs: number;
}

export class FireAudit {
  readonly #settings: AuditSettings;
  readonly #absent = new Map<number, number[]>();
  #recent: Lane | null = null;
  #deep: Lane | null = null;

  constructor(settings: Partial<AuditSettings> = {}) {
    this.#settings = { ...defaultAuditSettings, ...settings };
  }

  /** All expected fires that have no row, as far as they were asked for. */
  async check(jobs: readonly WatchedJob[], nowMs: number, lookup: AbsentLookup): Promise<FireKey[]> {
    const { settleMs, depthMs, deepPerPass } = this.#settings;
    if (!this.#recent) {
      const startMs = nowMs - settleMs - recentMs;
      this.#recent = { checkedUntil: new Map(), startMs, endMs: Number.POSITIVE_INFINITY };
      this.#deep = { checkedUntil: new Map(), startMs: nowMs - depthMs, endMs: startMs };
    }
    const asked: FireKey[] = [];
    for (const job of jobs) {
      for (const fireMs of this.#remembered(job, nowMs))
        asked.push({ jobId: job.jobId, fireTime: new Date(fireMs) });
      this.#walk(this.#recent, job, nowMs - settleMs, asked);
    }
    if (this.#deep) this.#walkDeep(this.#deep, jobs, asked, asked.length + deepPerPass);
    const absent = await lookup(asked);
    this.#absent.clear();
    for (const { jobId, fireTime } of absent) {
      const fires = this.#absent.get(jobId);
      if (fires) fires.push(fireTime.getTime());
      else this.#absent.set(jobId, [fireTime.getTime()]);
    }
    return absent;
  }

  /** True while the past of before the start is still being looked through. */
  get deepening(): boolean {
    return this.#deep !== null;
  }

  /** Absent fires of the pass before that are still expected: a pause may have been recorded since. */
  #remembered(job: WatchedJob, nowMs: number): number[] {
    const oldestMs = nowMs - this.#settings.rememberMs;
    const fires = this.#absent.get(job.jobId) ?? [];
    return fires.filter(
      (fireMs) => fireMs >= oldestMs && expectedFires(job, fireMs - 1, fireMs, 1)[0] === fireMs,
    );
  }

  #walk(lane: Lane, job: WatchedJob, toMs: number, asked: FireKey[]): number {
    const room = this.#settings.perJob - (this.#absent.get(job.jobId)?.length ?? 0);
    const fromMs = lane.checkedUntil.get(job.jobId) ?? lane.startMs;
    const endMs = Math.min(toMs, lane.endMs);
    if (room <= 0 || fromMs >= endMs) return 0;
    // A paused job expects nothing; what is recorded about the end of its pause counts later, too.
    const fires = expectedFires(job, fromMs, endMs, room);
    for (const fireMs of fires) asked.push({ jobId: job.jobId, fireTime: new Date(fireMs) });
    lane.checkedUntil.set(job.jobId, fires.length === room ? fires.at(-1)! : endMs);
    return fires.length;
  }

  #walkDeep(lane: Lane, jobs: readonly WatchedJob[], asked: FireKey[], most: number): void {
    let open = false;
    for (const job of jobs) {
      if (asked.length < most) this.#walk(lane, job, lane.endMs, asked);
      open ||= (lane.checkedUntil.get(job.jobId) ?? lane.startMs) < lane.endMs;
    }
    if (!open) this.#deep = null;
  }
}
