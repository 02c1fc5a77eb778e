/** Which alerts a route, a silence or a window is about. */
import type { AlertMatch } from "./watch-definition.ts";

export interface Matchable {
  readonly key: string;
  readonly rule: string;
  readonly severity: "info" | "warning" | "critical";
  /** `namespace/name`; undefined for what is about no job. */
  readonly job?: string | undefined;
}

/** True when everything that is named fits. A job without a namespace is one of namespace default. */
export function fits(match: AlertMatch, alert: Matchable): boolean {
  const { severity, rule, job, key } = match;
  return (
    (severity === undefined || severity.includes(alert.severity)) &&
    (rule === undefined || rule.some((one) => like(one, alert.rule))) &&
    (key === undefined || key.some((one) => like(one, alert.key))) &&
    (job === undefined ||
      (alert.job !== undefined &&
        job.some((one) => like(one.includes("/") || one === "*" ? one : `default/${one}`, alert.job!))))
  );
}

/** Not a regular expression: a long name with many stars must not take long. */
function like(pattern: string, text: string): boolean {
  const parts = pattern.split("*");
  const first = parts.shift()!;
  if (parts.length === 0) return first === text;
  const last = parts.pop()!;
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length)
    return false;
  let at = first.length;
  const end = text.length - last.length;
  for (const part of parts) {
    const found = text.indexOf(part, at);
    if (found < 0 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}

/** For people: `rule no-leader, job payroll/*`. */
export function describeMatch(match: AlertMatch): string {
  const parts = Object.entries(match).map(
    ([field, values]) => `${field} ${(values as string[]).join(" or ")}`,
  );
  return parts.length === 0 ? "everything" : parts.join(", ");
}
