/** What a watchman tells Prometheus. The names are documented in docs/metrics.md. */
import { type Counter, type Gauge, type Histogram, MetricRegistry } from "../base/prometheus.ts";
import type { Finding } from "./finding.ts";
import { ruleNames } from "./finding.ts";
import type { ClockReading, Picture } from "./picture.ts";

export class WatchmanMetrics {
  readonly registry = new MetricRegistry();
  readonly passes: Counter;
  readonly passErrors: Counter;
  readonly passSeconds: Histogram;
  readonly storeReachable: Gauge;
  #findings: readonly Finding[] = [];
  #picture: Picture | null = null;

  /** @param unwatched what a picture does not show */
  constructor(secondsSincePass: () => number | null, unwatched: (picture: Picture) => readonly string[]) {
    const { registry } = this;
    this.passes = registry.counter("escapement_watchman_passes_total", "Passes that judged a whole picture.");
    this.passErrors = registry.counter("escapement_watchman_pass_errors_total", "Passes that could not.");
    this.passSeconds = registry.histogram(
      "escapement_watchman_pass_seconds",
      "Time to read and judge one picture.",
      [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10],
    );
    registry.gauge(
      "escapement_watchman_seconds_since_pass",
      "Seconds since the last whole pass; absent before the first.",
      (gauge) => {
        const seconds = secondsSincePass();
        if (seconds !== null) gauge.set(seconds);
      },
    );
    this.storeReachable = registry.gauge(
      "escapement_watchman_store_reachable",
      "1 while the record store answers.",
    );
    registry.gauge("escapement_watchman_findings", "Findings of the last pass, by rule.", (gauge) => {
      for (const rule of ruleNames)
        gauge.set(this.#findings.filter((finding) => finding.rule === rule).length, { rule });
    });
    this.#clusterGauges(unwatched);
    this.#clockGauges();
    this.storeReachable.set(0);
  }

  /** Takes the result of a pass; null while the store is away: figures of the cluster are then absent, not old. */
  show(findings: readonly Finding[], picture: Picture | null): void {
    this.#findings = findings;
    this.#picture = picture;
    this.storeReachable.set(picture ? 1 : 0);
  }

  #of(name: string, help: string, read: (picture: Picture, gauge: Gauge) => void): void {
    this.registry.gauge(name, help, (gauge) => {
      if (this.#picture) read(this.#picture, gauge);
    });
  }

  #clusterGauges(unwatched: (picture: Picture) => readonly string[]): void {
    this.#of("escapement_watchman_jobs", "Jobs, by state.", ({ jobs }, gauge) => {
      for (const state of ["active", "paused"])
        gauge.set(jobs.filter((job) => job.state === state).length, { state });
    });
    this.#of("escapement_watchman_leader", "1 while somebody holds the lease.", ({ leader, now }, gauge) =>
      gauge.set(leader.expiresAt > now ? 1 : 0),
    );
    this.#of(
      "escapement_watchman_executors",
      "Executors that take jobs and whose lease lives.",
      ({ executors, now }, gauge) =>
        gauge.set(
          executors.filter(
            ({ state, leaseUntil, controlOnly }) => state === "active" && !controlOnly && leaseUntil > now,
          ).length,
        ),
    );
    this.#of("escapement_watchman_absent_fires", "Expected fires without a record.", (picture, gauge) =>
      gauge.set(picture.absentFires.length),
    );
    this.#of("escapement_watchman_failed_executions", "Failed, and not run again.", (picture, gauge) =>
      gauge.set(picture.failed.length),
    );
    this.#of("escapement_watchman_pending_shards", "Shards that wait for a slot.", ({ backlog }, gauge) =>
      gauge.set(backlog.at(-1)?.pendingShards ?? 0),
    );
    this.#of("escapement_watchman_running_shards", "Shards that run.", ({ backlog }, gauge) =>
      gauge.set(backlog.at(-1)?.runningShards ?? 0),
    );
    this.#of(
      "escapement_watchman_oldest_pending_seconds",
      "How long the oldest waiting shard has waited.",
      ({ backlog }, gauge) => gauge.set((backlog.at(-1)?.mostLateMs ?? 0) / 1000),
    );
    this.#of("escapement_watchman_store_bytes", "Size of the record store.", ({ health }, gauge) => {
      if (health?.databaseBytes != null) gauge.set(health.databaseBytes);
    });
    this.#of(
      "escapement_watchman_unknown_checks",
      "What it cannot see: the server, the store's disks, time services.",
      (picture, gauge) => gauge.set(unwatched(picture).length),
    );
    this.#of(
      "escapement_watchman_store_disk_free_bytes",
      "Room on the file systems of the store's host.",
      ({ storeDisks }, gauge) => {
        for (const { host, path, freeBytes } of storeDisks) gauge.set(freeBytes, { host, path });
      },
    );
    this.#of(
      "escapement_watchman_store_disk_bytes",
      "Size of those file systems.",
      ({ storeDisks }, gauge) => {
        for (const { host, path, totalBytes } of storeDisks) gauge.set(totalBytes, { host, path });
      },
    );
  }

  #clockGauges(): void {
    this.#of(
      "escapement_watchman_clock_offset_seconds",
      "A process's wall clock minus the database's.",
      ({ clocks }, gauge) => {
        for (const { node, part, offsetMs } of clocks) gauge.set(offsetMs / 1000, { node, part });
      },
    );
    this.#of(
      "escapement_watchman_clock_error_seconds",
      "By how much the watchman's own measurement may be wrong.",
      ({ clocks }, gauge) => {
        for (const { part, errorMs } of clocks) if (part === "watchman") gauge.set(errorMs / 1000);
      },
    );
    this.#of(
      "escapement_watchman_schedulers_apart_seconds",
      "The largest difference between the clocks of two schedulers; absent with fewer than two.",
      ({ clocks }, gauge) => {
        const apart = spread(clocks.filter(({ part }) => part === "scheduler"));
        if (apart !== null) gauge.set(apart / 1000);
      },
    );
    this.#of(
      "escapement_watchman_time_service_problems",
      "What the time service of the watchman's host complains about; absent without one.",
      ({ clockSource }, gauge) => {
        if (clockSource) gauge.set(clockSource.problems.length);
      },
    );
  }
}

function spread(clocks: readonly ClockReading[]): number | null {
  if (clocks.length < 2) return null;
  const offsets = clocks.map(({ offsetMs }) => offsetMs);
  return Math.max(...offsets) - Math.min(...offsets);
}
