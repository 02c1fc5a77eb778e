/** Shows a history as the record store would at an instant. Looks go forward in time only. */

import type { FireKey } from "../../../src/watchman/fire-audit.ts";
import type {
  FailedExecution,
  LiveExecution,
  Picture,
  WatchedDefinition,
  WatchedExecution,
  WatchedJob,
} from "../../../src/watchman/picture.ts";
import { clocksOf } from "../../../src/watchman/picture-reader.ts";
import { timeSource } from "../well-picture.ts";
import {
  day,
  type History,
  type HostFault,
  lookAhead,
  type Row,
  type SimulatedJob,
  second,
} from "./history.ts";

const never = Number.POSITIVE_INFINITY;

export class Projector {
  readonly #history: History;
  readonly #tracks: JobTrack[];

  constructor(history: History) {
    this.#history = history;
    this.#tracks = history.jobs.map((job) => new JobTrack(job, history));
  }

  jobsAt(t: number): WatchedJob[] {
    // A second after its return the leader has planned: rows and cursor move in one transaction.
    const outage = this.#history.leaderless.find((s) => t > s.from && t < s.to + second);
    const plannedUntil = (outage ? outage.from : t) + lookAhead;
    return this.#tracks.map((track) => track.at(t, plannedUntil));
  }

  absent(t: number, fires: readonly FireKey[]): FireKey[] {
    return fires.filter(({ jobId, fireTime }) => !this.#tracks[jobId - 1]!.hasRow(fireTime.getTime(), t));
  }

  pictureAt(t: number, jobs: readonly WatchedJob[], absentFires: readonly FireKey[]): Picture {
    const { leaderless, idle, skews, hostFaults } = this.#history;
    const fault = (kind: HostFault["kind"]) =>
      hostFaults.find((s) => s.kind === kind && t >= s.from && t < s.to);
    const noLeader = leaderless.find((s) => t > s.from && t <= s.to);
    const noExecutor = idle.find((s) => t > s.from && t <= s.to);
    const now = new Date(t);
    const offset = (node: string) =>
      skews.find((s) => s.node === node && t >= s.from && t < s.to)?.offsetMs ?? 3;
    const lastSeen = new Date(noLeader ? noLeader.from : t - second);
    const schedulers = ["sched-a", "sched-b"].map((node) => ({
      incarnation: node,
      node,
      host: node,
      stopped: false,
      lastSeen,
      timeZoneData: "2025c",
      offsetMs: offset(node),
      holdsVirtualAddress: fault("two-addresses") ? true : node === "sched-a" && !fault("no-address"),
      virtualAddressSeenAt: lastSeen,
      timeSource: timeSource({ at: lastSeen }),
    }));
    const executors = [
      {
        incarnation: "exec-1",
        node: "exec-1",
        host: "exec-1",
        state: "active" as const,
        leaseMs: 15_000,
        leaseUntil: new Date(noExecutor ? noExecutor.from + 10 * second : t + 10 * second),
        slots: 8,
        controlOnly: false,
        offsetMs: offset("exec-1"),
        timeSource: timeSource({ at: new Date(t - 50 * second), isSynchronized: !fault("unsynchronised") }),
      },
    ];
    return {
      now,
      leader: {
        holder: "sched-a",
        node: "sched-a",
        epoch: 7,
        expiresAt: new Date(noLeader ? noLeader.from + 10 * second : t + 10 * second),
      },
      timeZoneData: "2025c",
      schedulers,
      executors,
      jobs,
      absentFires,
      failed: this.#tracks.flatMap((track) => track.failedAt(t)),
      shards: [],
      clockSteps: [],
      clocks: clocksOf(t - 60_000, schedulers, executors),
      clockSource: null,
      tampered: [],
      backlog: [{ at: now, pendingShards: 0, runningShards: 0, mostLateMs: 0 }],
      health: null,
      storeDisks: [
        {
          ...{ host: "store", path: "/var/lib/postgresql", totalBytes: 1_000 },
          freeBytes: fault("disk-full") ? 50 : 500,
          at: new Date(fault("disk-silent")?.from ?? t - 20 * second),
        },
      ],
      virtualAddressHeldAt: new Date(fault("no-address")?.from ?? lastSeen),
    };
  }
}

/** One job, walked forward. */
class JobTrack {
  readonly #job: SimulatedJob;
  readonly #history: History;
  readonly #definitions: readonly WatchedDefinition[];
  readonly #byFire: ReadonlyMap<number, Row>;
  #next = 0;
  #alive: Row[] = [];
  #failed: Row[] = [];
  #success = -1;

  constructor(job: SimulatedJob, history: History) {
    this.#job = job;
    this.#history = history;
    this.#byFire = new Map(job.rows.map((row) => [row.fire, row]));
    this.#definitions = job.versions.map(({ from, schedule }, i) => ({
      version: i + 1,
      digest: `${i}`,
      effectiveFrom: new Date(from),
      appliedBy: "somebody",
      schedule: { kind: "cron", cron: schedule.cron },
      timeZone: schedule.zone,
      dstGap: schedule.gap,
      dstOverlap: schedule.overlap,
      misfire: { policy: "run-now", thresholdMs: 60_000 },
      blocking: { policy: "allow" },
      timeoutMs: 3_600_000,
      leaseMs: 15_000,
      retry: { maxAttempts: 1 },
    }));
  }

  hasRow(fireMs: number, t: number): boolean {
    const row = this.#byFire.get(fireMs);
    return row !== undefined && row.planned <= t;
  }

  failedAt(t: number): FailedExecution[] {
    return this.#failed
      .filter(({ ended }) => ended > t - 3 * day)
      .map(({ fire, ended }) => ({
        dedupKey: `shard-failed:${this.#job.jobId}:${fire}`,
        jobId: this.#job.jobId,
        fireTime: new Date(fire),
        at: new Date(ended),
        message: "1 shard(s) failed for good",
      }));
  }

  at(t: number, plannedUntil: number): WatchedJob {
    const { rows, pauses, versions, jobId, name, usualMs } = this.#job;
    while (this.#next < rows.length && rows[this.#next]!.fire <= t) this.#alive.push(rows[this.#next++]!);
    this.#settle(t);
    const last = rows[this.#success];
    const since: WatchedExecution[] = [];
    for (let i = this.#success + 1; i < this.#next && since.length < 20; i += 1)
      if (rows[i]!.planned <= t) since.push(execution(rows[i]!, t));
    const live = this.#alive
      .filter(({ planned, final }) => planned <= t && final !== "missed")
      .map((row) => liveExecution(row, t));
    const known = pauses.filter(({ from }) => from <= t);
    const resting = known.find(({ to }) => to > t);
    return {
      jobId,
      job: name,
      state: resting ? "paused" : "active",
      stateSince: new Date(resting?.from ?? this.#history.from),
      knownSince: new Date(versions[0]!.from),
      plannedUntil: new Date(plannedUntil),
      definitions: this.#definitions.filter(({ effectiveFrom }) => effectiveFrom.getTime() <= t),
      pauses: known.map(({ from, to }) => ({ from: new Date(from), to: to <= t ? new Date(to) : null })),
      lastSuccess: last ? { ...execution(last, t), rows: 100 } : null,
      sinceSuccess: since,
      live,
      baseline: { successes: 20, medianMs: usualMs, slowMs: usualMs * 1.1, medianRows: 100 },
    };
  }

  /** Takes what has ended out of the living. */
  #settle(t: number): void {
    this.#alive = this.#alive.filter((row) => {
      if (row.planned === never) return false;
      if (row.ended > t) return true;
      if (row.final === "failed") this.#failed.push(row);
      if (row.final === "success")
        this.#success = Math.max(this.#success, this.#job.rows.indexOf(row, Math.max(0, this.#next - 2_000)));
      return false;
    });
  }
}

function execution(row: Row, t: number): WatchedExecution {
  const reached = (at: number) => (at <= t ? new Date(at) : null);
  return {
    fireTime: new Date(row.fire),
    status:
      row.final === "missed"
        ? "missed"
        : row.ended <= t
          ? row.final
          : row.started <= t
            ? "running"
            : row.opened <= t
              ? "pending"
              : "planned",
    trigger: row.misfire ? "misfire" : "schedule",
    openedAt: reached(row.opened),
    startedAt: reached(row.started),
    endedAt: row.final === "missed" ? null : reached(row.ended),
    missedSeconds: row.started <= t ? (row.started - row.fire) / 1000 : null,
  };
}

function liveExecution(row: Row, t: number): LiveExecution {
  return {
    ...execution(row, t),
    state: row.opened <= t ? "open" : "planned",
    dueAt: new Date(row.fire),
    chained: false,
  };
}
