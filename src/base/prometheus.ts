/**
 * Metrics in the Prometheus text format, version 0.0.4: counters, gauges and
 * histograms with labels. A metric is made once, by its registry; a series
 * appears with its first value.
 */

export type Labels = Readonly<Record<string, string>>;

interface Metric {
  readonly lines: () => string[];
}

/** The metrics of one process. */
export class MetricRegistry {
  readonly #metrics = new Map<string, Metric>();

  /** Only goes up. Without labels it is there, as 0, from the start. */
  counter(name: string, help: string): Counter {
    return this.#add(name, new Counter(name, help));
  }

  /** @param read called at every scrape; what it sets is shown, what it set before is forgotten */
  gauge(name: string, help: string, read?: (gauge: Gauge) => void): Gauge {
    return this.#add(name, new Gauge(name, help, read));
  }

  /** @param buckets upper bounds, ascending; `+Inf` is added */
  histogram(name: string, help: string, buckets: readonly number[]): Histogram {
    return this.#add(name, new Histogram(name, help, buckets));
  }

  /** The whole page. */
  render(): string {
    return [...this.#metrics.values()]
      .flatMap((metric) => metric.lines())
      .join("\n")
      .concat("\n");
  }

  #add<M extends Metric>(name: string, metric: M): M {
    if (this.#metrics.has(name)) throw new Error(`metric ${name} is made twice`);
    this.#metrics.set(name, metric);
    return metric;
  }
}

/** The content type of {@link MetricRegistry.render}. */
export const prometheusContentType = "text/plain; version=0.0.4; charset=utf-8";

export class Counter implements Metric {
  readonly #series = new Map<string, number>();

  constructor(
    readonly name: string,
    readonly help: string,
  ) {}

  add(amount = 1, labels: Labels = {}): void {
    const key = labelText(labels);
    this.#series.set(key, (this.#series.get(key) ?? 0) + amount);
  }

  value(labels: Labels = {}): number {
    return this.#series.get(labelText(labels)) ?? 0;
  }

  lines(): string[] {
    const series: [string, number][] = this.#series.size > 0 ? [...this.#series] : [["", 0]];
    return [
      ...head(this.name, this.help, "counter"),
      ...series.map(([key, value]) => sample(this.name, key, value)),
    ];
  }
}

export class Gauge implements Metric {
  readonly #series = new Map<string, number>();

  constructor(
    readonly name: string,
    readonly help: string,
    readonly read?: (gauge: Gauge) => void,
  ) {}

  set(value: number, labels: Labels = {}): void {
    this.#series.set(labelText(labels), value);
  }

  lines(): string[] {
    if (this.read) {
      this.#series.clear();
      this.read(this);
    }
    return [
      ...head(this.name, this.help, "gauge"),
      ...[...this.#series].map(([key, value]) => sample(this.name, key, value)),
    ];
  }
}

export class Histogram implements Metric {
  readonly #series = new Map<string, { counts: number[]; sum: number; count: number }>();

  constructor(
    readonly name: string,
    readonly help: string,
    readonly buckets: readonly number[],
  ) {}

  observe(value: number, labels: Labels = {}): void {
    const key = labelText(labels);
    let series = this.#series.get(key);
    if (!series) {
      series = { counts: this.buckets.map(() => 0), sum: 0, count: 0 };
      this.#series.set(key, series);
    }
    series.sum += value;
    series.count += 1;
    for (const [i, bound] of this.buckets.entries()) if (value <= bound) series.counts[i]! += 1;
  }

  lines(): string[] {
    const lines = head(this.name, this.help, "histogram");
    for (const [key, { counts, sum, count }] of this.#series) {
      const inner = key === "" ? "" : `${key.slice(1, -1)},`;
      for (const [i, bound] of this.buckets.entries())
        lines.push(sample(`${this.name}_bucket`, `{${inner}le="${bound}"}`, counts[i]!));
      lines.push(sample(`${this.name}_bucket`, `{${inner}le="+Inf"}`, count));
      lines.push(sample(`${this.name}_sum`, key, sum), sample(`${this.name}_count`, key, count));
    }
    return lines;
  }
}

function head(name: string, help: string, type: string): string[] {
  return [
    `# HELP ${name} ${help.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")}`,
    `# TYPE ${name} ${type}`,
  ];
}

function sample(name: string, labels: string, value: number): string {
  return `${name}${labels} ${Number.isFinite(value) ? value : Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf"}`;
}

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

function escapeLabel(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
