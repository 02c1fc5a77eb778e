/** What an executor counts and shows; see docs/executor.md for the meaning of each. */
import { MetricRegistry } from "../base/prometheus.ts";
import type { ResourceClass } from "../spec/job-definition.ts";

export interface ExecutorState {
  readonly running: () => Readonly<Record<ResourceClass, number>>;
  readonly slots: Readonly<Record<ResourceClass, number>>;
  readonly waitingOutcomes: () => number;
  readonly trustedForMs: () => number;
  /** Null before the first renewal. */
  readonly offsetMs: () => number | null;
}

export class ExecutorMetrics {
  readonly registry = new MetricRegistry();
  readonly claims = this.registry.counter("escapement_executor_claims_total", "Shards claimed, by class.");
  readonly ends = this.registry.counter(
    "escapement_executor_ends_total",
    "Attempts whose outcome was accepted, by outcome.",
  );
  readonly refused = this.registry.counter(
    "escapement_executor_refused_writes_total",
    "Writes of attempts that the store refused because the claim was not held any more, by kind.",
  );
  readonly givenUp = this.registry.counter(
    "escapement_executor_unwritten_ends_total",
    "Outcomes that could not be written while the lease lasted.",
  );
  readonly leaseLosses = this.registry.counter(
    "escapement_executor_lease_losses_total",
    "Leases that could not be kept.",
  );
  readonly supervisorDeaths = this.registry.counter(
    "escapement_executor_supervisor_deaths_total",
    "Supervisors that died or did not answer.",
  );
  readonly reaped = this.registry.counter(
    "escapement_executor_reaped_total",
    "Other executors declared dead by this one.",
  );
  readonly takenOver = this.registry.counter(
    "escapement_executor_taken_over_total",
    "Earlier incarnations on this host whose shards were taken over.",
  );
  readonly logTrouble = this.registry.counter(
    "escapement_executor_log_trouble_total",
    "Times that output of attempts could not be written.",
  );
  readonly rounds = this.registry.counter("escapement_executor_rounds_total", "Looks for work.");
  readonly startDelay = this.registry.histogram(
    "escapement_executor_start_delay_seconds",
    "From claim to running process.",
    [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1, 5],
  );

  /** Adds what is read at every scrape. */
  show(state: ExecutorState): void {
    this.registry.gauge("escapement_executor_running", "Attempts that run now, by class.", (gauge) => {
      for (const [of, count] of Object.entries(state.running())) gauge.set(count, { class: of });
    });
    this.registry.gauge("escapement_executor_slots", "Attempts that may run at once, by class.", (gauge) => {
      for (const [of, count] of Object.entries(state.slots)) gauge.set(count, { class: of });
    });
    this.registry.gauge(
      "escapement_executor_waiting_outcomes",
      "Outcomes that are not written yet.",
      (gauge) => gauge.set(state.waitingOutcomes()),
    );
    this.registry.gauge(
      "escapement_executor_lease_trusted_seconds",
      "How long the lease is still trusted without another renewal.",
      (gauge) => gauge.set(state.trustedForMs() / 1_000),
    );
    this.registry.gauge(
      "escapement_executor_clock_offset_seconds",
      "This host's wall clock minus the database's.",
      (gauge) => {
        const offsetMs = state.offsetMs();
        if (offsetMs !== null) gauge.set(offsetMs / 1_000);
      },
    );
  }
}
