/** What the delivery of alerts tells Prometheus. The names are documented in docs/metrics.md. */
import type { MetricRegistry } from "../base/prometheus.ts";
import type { Severity } from "./finding.ts";

export interface DeliveryStatus {
  readonly open: readonly { readonly severity: Severity }[];
  readonly spooled: number;
  readonly channels: readonly { readonly name: string; readonly failures: number }[];
}

/** Adds gauges that are read at each scrape. */
export function addDeliveryMetrics(registry: MetricRegistry, status: () => DeliveryStatus): void {
  registry.gauge("escapement_watchman_open_alerts", "Open alerts, by severity.", (gauge) => {
    for (const severity of ["info", "warning", "critical"] as const)
      gauge.set(status().open.filter((alert) => alert.severity === severity).length, { severity });
  });
  registry.gauge("escapement_watchman_spooled_messages", "Messages in the spool file.", (gauge) =>
    gauge.set(status().spooled),
  );
  registry.gauge(
    "escapement_watchman_channel_failures",
    "Rounds in a row that a channel did not accept.",
    (gauge) => {
      for (const { name, failures } of status().channels) gauge.set(failures, { channel: name });
    },
  );
}
