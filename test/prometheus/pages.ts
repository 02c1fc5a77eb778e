/** What the alert rules and the dashboard ask Prometheus, and which metrics they name. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";

export const alertsPath = fileURLToPath(new URL("../../docs/prometheus/alerts.yaml", import.meta.url));
const dashboardPath = fileURLToPath(new URL("../../docs/prometheus/dashboard.json", import.meta.url));

export interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

export function alertRules(): Rule[] {
  const page = parse(readFileSync(alertsPath, "utf8")) as { groups: { rules: Rule[] }[] };
  return page.groups.flatMap(({ rules }) => rules);
}

export interface Panel {
  readonly id: number;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly expr: string }[];
}

export function dashboardPanels(): Panel[] {
  return (JSON.parse(readFileSync(dashboardPath, "utf8")) as { panels: Panel[] }).panels;
}

/** Every expression of both pages. */
export function expressions(): string[] {
  return [
    ...alertRules().map(({ expr }) => expr),
    ...dashboardPanels().flatMap(({ targets }) => (targets ?? []).map(({ expr }) => expr)),
  ];
}

/** Metric names, as `/metrics` declares them: a histogram without the ending of its series. */
export function metricNames(): Set<string> {
  const found = expressions().flatMap((expr) => expr.match(/escapement_[a-z_]+/g) ?? []);
  return new Set(found.map((name) => name.replace(/_(bucket|count|sum)$/, "")));
}
