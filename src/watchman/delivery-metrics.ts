/** What the delivery of alerts tells Prometheus. The names are documented in docs/metrics.md. */
import type { MetricRegistry } from "../base/prometheus.ts";
import type { ChannelStatus, DeliveryStatus } from "./delivery-status.ts";

/** Adds gauges that are read at each scrape. */
export function addDeliveryMetrics(registry: MetricRegistry, status: () => DeliveryStatus): void {
  registry.gauge("escapement_watchman_open_alerts", "Open alerts, by severity.", (gauge) => {
    for (const severity of ["info", "warning", "critical"] as const)
      gauge.set(status().open.filter((alert) => alert.severity === severity).length, { severity });
  });
  registry.gauge("escapement_watchman_spooled_messages", "Messages in the spool file.", (gauge) =>
    gauge.set(status().spooled),
  );
  /** Absent where the figure is null. */
  const ofChannels = (name: string, help: string, figure: (channel: ChannelStatus) => number | null) =>
    registry.gauge(`escapement_watchman_${name}`, help, (gauge) => {
      for (const channel of status().channels) {
        const value = figure(channel);
        if (value !== null) gauge.set(value, { channel: channel.name });
      }
    });
  ofChannels(
    "channel_failures",
    "Rounds in a row that a channel did not accept.",
    ({ failures }) => failures,
  );
  ofChannels("waiting_messages", "Messages that wait for a channel.", ({ waiting }) => waiting);
  ofChannels(
    "oldest_waiting_seconds",
    "Age of the oldest message that waits for a channel; 0 without one.",
    ({ oldestWaitingMs }) => (oldestWaitingMs ?? 0) / 1000,
  );
  ofChannels(
    "refused_messages",
    "Messages that a channel was not told of within a day.",
    ({ refused }) => refused,
  );
  ofChannels(
    "test_accepted_seconds",
    "Seconds since a channel accepted a test alert; absent before the first.",
    ({ testAcceptedMs }) => (testAcceptedMs === null ? null : testAcceptedMs / 1000),
  );
  registry.gauge(
    "escapement_watchman_heartbeat_seconds",
    "Seconds since the heartbeat was answered; absent without one.",
    (gauge) => {
      const { heartbeatMs } = status();
      if (heartbeatMs !== null) gauge.set(heartbeatMs / 1000);
    },
  );
}
