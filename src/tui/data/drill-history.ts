/** What runs of drills say together. */
import type { DrillLook } from "../../store/ui/records-look.ts";

/** The latest run of each class, by class. One that was refused or left out broke nothing, and hides none before it. */
export function latestOfClasses(runs: readonly DrillLook[]): DrillLook[] {
  const latest = new Map<string, DrillLook>();
  for (const run of runs)
    if (run.verdict !== "refused" && run.verdict !== "left-out" && !latest.has(run.class))
      latest.set(run.class, run);
  return [...latest.values()].sort((a, b) => a.class.localeCompare(b.class));
}
