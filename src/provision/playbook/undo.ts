/** `--undo`: takes a run back. */
import { EscapementError } from "../../base/errors.ts";
import { latestRun, requireSameInventory } from "./progress.ts";
import { entryOf } from "./registry.ts";
import { reasonOf } from "./run-unit.ts";
import { contextOf, type RunOptions, type RunResult, type RunUnit } from "./runner.ts";

/**
 * Takes back what the latest run has begun, the last first. A step without an
 * undo is passed over and named.
 * @throws E_REFUSED where there is nothing to take back, or the inventory has other hosts
 */
export async function undoPlaybook<World>(options: RunOptions<World>): Promise<RunResult> {
  const { playbook, registry, journal, hosts, onEvent = () => {} } = options;
  const before = latestRun(journal.entries);
  if (!before || before.acted.length === 0)
    throw new EscapementError("E_REFUSED", {
      what: `no run of ${playbook.name} has done anything that stands`,
      hint: "there is nothing to take back",
    });
  const hint = "take it back with the inventory it was begun with: elsewhere it has done nothing";
  requireSameInventory(before, playbook.name, options.inventoryDigest, hint);
  const { run } = before;
  const units: RunUnit[] = [];
  for (const unit of before.acted.toReversed()) {
    const step = playbook.spec.steps.find((one) => one.id === unit.step);
    const host = hosts.find((one) => one.name === unit.host);
    if (!step?.undo || !host) {
      units.push({
        ...unit,
        outcome: "skipped",
        because: host ? "has no undo" : "is not in the inventory any more",
      });
      continue;
    }
    try {
      const action = entryOf(registry.actions, step.undo.do);
      const because = await action.run(contextOf(options, host), step.undo.with);
      journal.append({ run, event: "undone", ...unit });
      onEvent({ event: "undone", ...unit, because });
      units.push({ ...unit, outcome: "done", because });
    } catch (error) {
      units.push({
        ...unit,
        outcome: options.signal.aborted ? "interrupted" : "failed",
        because: reasonOf(error),
      });
      const outcome = options.signal.aborted ? "interrupted" : "failed";
      journal.append({ run, event: "finish", outcome });
      return { run, outcome, resumed: true, units };
    }
  }
  journal.append({ run, event: "finish", outcome: "undone" });
  return { run, outcome: "undone", resumed: true, units };
}
