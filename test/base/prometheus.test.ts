import { expect, test } from "vitest";
import { MetricRegistry } from "../../src/base/prometheus.ts";

test("counters, gauges and histograms in the text format", () => {
  const registry = new MetricRegistry();
  const claims = registry.counter("claims_total", "Shards claimed.");
  registry.counter("idle_total", "Never counted.");
  registry.gauge("free", 'Slots with a \\ and a\nbreak "quoted".', (gauge) => {
    gauge.set(3, { class: 'a"b\\c\nd' });
    gauge.set(Number.POSITIVE_INFINITY);
  });
  const delay = registry.histogram("delay_seconds", "From claim to start.", [0.1, 1]);
  claims.add();
  claims.add(2, { class: "io" });
  claims.add(1, { class: "io" });
  delay.observe(0.1, { class: "io" });
  delay.observe(5, { class: "io" });
  expect(claims.value({ class: "io" })).toBe(3);
  expect(registry.render()).toBe(`# HELP claims_total Shards claimed.
# TYPE claims_total counter
claims_total 1
claims_total{class="io"} 3
# HELP idle_total Never counted.
# TYPE idle_total counter
idle_total 0
# HELP free Slots with a \\\\ and a\\nbreak "quoted".
# TYPE free gauge
free{class="a\\"b\\\\c\\nd"} 3
free +Inf
# HELP delay_seconds From claim to start.
# TYPE delay_seconds histogram
delay_seconds_bucket{class="io",le="0.1"} 1
delay_seconds_bucket{class="io",le="1"} 1
delay_seconds_bucket{class="io",le="+Inf"} 2
delay_seconds_sum{class="io"} 5.1
delay_seconds_count{class="io"} 2
`);
});

test("a gauge that is read forgets what it showed before", () => {
  const registry = new MetricRegistry();
  let shown = "a";
  registry.gauge("g", "G.", (gauge) => gauge.set(1, { of: shown }));
  registry.render();
  shown = "b";
  expect(registry.render()).not.toContain('of="a"');
});

test("a name is given once", () => {
  const registry = new MetricRegistry();
  registry.counter("twice", "Once.");
  expect(() => registry.gauge("twice", "Again.")).toThrow(/twice/);
});
