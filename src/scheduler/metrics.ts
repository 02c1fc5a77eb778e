/** What a scheduler tells Prometheus. The names are documented in docs/metrics.md. */
import { type Counter, type Gauge, type Histogram, MetricRegistry } from "../base/prometheus.ts";

export class SchedulerMetrics {
  readonly registry = new MetricRegistry();
  readonly leader: Gauge;
  readonly epoch: Gauge;
  readonly trustLeftSeconds: Gauge;
  readonly wallOffsetSeconds: Gauge;
  readonly terms: Counter;
  readonly demotions: Counter;
  readonly planned: Counter;
  readonly missed: Counter;
  readonly opened: Counter;
  readonly reapedShards: Counter;
  readonly storeErrors: Counter;
  readonly clockSteps: Counter;
  readonly planSeconds: Histogram;
  readonly openSeconds: Histogram;

  constructor(read: { trustLeftMs(): number | null; wallOffsetMs(): number | null }) {
    const { registry } = this;
    const buckets = [0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5];
    this.leader = registry.gauge("escapement_scheduler_leader", "1 while this process leads.");
    this.epoch = registry.gauge("escapement_scheduler_epoch", "Epoch of the last term this process led.");
    this.trustLeftSeconds = registry.gauge(
      "escapement_scheduler_trust_left_seconds",
      "Time for which the leadership is trusted without a renewal; absent on a standby.",
      (gauge) => setSeconds(gauge, read.trustLeftMs()),
    );
    this.wallOffsetSeconds = registry.gauge(
      "escapement_scheduler_wall_offset_seconds",
      "This host's wall clock minus the database's.",
      (gauge) => setSeconds(gauge, read.wallOffsetMs()),
    );
    this.terms = registry.counter("escapement_scheduler_terms_total", "Terms of leadership begun.");
    this.demotions = registry.counter(
      "escapement_scheduler_demotions_total",
      "Terms that ended otherwise than by a stop.",
    );
    this.planned = registry.counter("escapement_scheduler_planned_total", "Executions planned.");
    this.missed = registry.counter(
      "escapement_scheduler_missed_total",
      "Fires recorded as missed while planning.",
    );
    this.opened = registry.counter("escapement_scheduler_opened_total", "Executions opened by this process.");
    this.reapedShards = registry.counter(
      "escapement_scheduler_reaped_shards_total",
      "Shards put back from dead executors.",
    );
    this.storeErrors = registry.counter(
      "escapement_scheduler_store_errors_total",
      "Errors of the record store.",
    );
    this.clockSteps = registry.counter(
      "escapement_scheduler_store_clock_steps_total",
      "Steps of the database's clock seen.",
    );
    this.planSeconds = registry.histogram(
      "escapement_scheduler_plan_seconds",
      "Longest fenced statement of a planning pass.",
      buckets,
    );
    this.openSeconds = registry.histogram(
      "escapement_scheduler_open_seconds",
      "Time to open what had come due.",
      buckets,
    );
    this.leader.set(0);
  }
}

function setSeconds(gauge: Gauge, ms: number | null): void {
  if (ms !== null) gauge.set(ms / 1000);
}
