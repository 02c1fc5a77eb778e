/** What runs of drills say together. */
import type { DrillLook } from "../../store/ui/records-look.ts";

/** The latest run of each class, by class. */
export function latestOfClasses(runs: readonly DrillLook[]): DrillLook[] {
  const latest = new Map<string, DrillLook>();
  for (const run of runs) if (!latest.has(run.class)) latest.set(run.class, run);
  return [...latest.values()].sort((a, b) => a.class.localeCompare(b.class));
}
