/** Observations with one cause become one: a dead store is one alert, not one for every job. */
import type { Observation } from "./alert.ts";
import type { Severity } from "./finding.ts";

const rank: Record<Severity, number> = { info: 0, warning: 1, critical: 2 };
/** Members that are written out in a group's evidence. */
const membersShown = 20;

export function isWorse(one: Severity, other: Severity): boolean {
  return rank[one] > rank[other];
}

export interface Grouped {
  readonly observations: readonly Observation[];
  /** Keys of what is told as part of a group: their own alerts, if open before, stay as they are. */
  readonly members: ReadonlySet<string>;
}

/**
 * The key of a group is `cause:CAUSE`, also when it has one member, so that a
 * group that grows is no news. A group without job and fire time of its own
 * speaks with the words of the member that is the cause itself, if it is there.
 */
export function groupByCause(observations: readonly Observation[]): Grouped {
  const single: Observation[] = [];
  const groups = new Map<string, Observation[]>();
  const members = new Set<string>();
  for (const one of observations) {
    if (one.cause === undefined) {
      single.push(one);
      continue;
    }
    members.add(one.key);
    const group = groups.get(one.cause);
    if (group) group.push(one);
    else groups.set(one.cause, [one]);
  }
  return { observations: [...[...groups].map(([cause, group]) => asOne(cause, group)), ...single], members };
}

function asOne(cause: string, group: readonly Observation[]): Observation {
  const worst = group.reduce((a, b) => (isWorse(b.severity, a.severity) ? b : a));
  const root = group.find((one) => isRoot(one, cause)) ?? worst;
  const others = group.filter((one) => one !== root);
  return {
    rule: root.rule,
    key: `cause:${cause}`,
    severity: worst.severity,
    message: others.length === 0 ? root.message : `${root.message} Together with it: ${summary(others)}.`,
    evidence: {
      ...root.evidence,
      ...(others.length > 0 && {
        findings: group.length,
        members: others
          .slice(0, membersShown)
          .map(({ key, severity, message }) => ({ key, severity, message })),
      }),
    },
    cause,
    hint: root.hint,
    ...(group.every((one) => one.noted) && { noted: true }),
  };
}

/** `no-leader`, `store-unreachable` for `store`, `executor-silent` for `executor:e1`: the finding that names the cause. */
function isRoot(one: Observation, cause: string): boolean {
  const [kind = cause] = cause.split(":");
  return one.job === undefined && (one.rule === kind || one.rule.startsWith(`${kind}-`));
}

function summary(others: readonly Observation[]): string {
  const counts = new Map<string, number>();
  for (const { rule } of others) counts.set(rule, (counts.get(rule) ?? 0) + 1);
  return [...counts].map(([rule, count]) => `${count} × ${rule}`).join(", ");
}

/** The keys under which an observation may be in the book. */
export function groupKeys(one: Observation): string[] {
  return one.cause === undefined ? [one.key] : [one.key, `cause:${one.cause}`];
}
