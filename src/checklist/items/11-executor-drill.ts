/** Item 11: an executor dies, and its work goes on. */
import type { CheckContext } from "../context.ts";
import type { ChecklistItem, Result } from "../item.ts";
import { days, drillCommand, failedLast, historiesOf, staleness } from "./drill-passes.ts";
import { inParts } from "./parts.ts";
import { clusterScope, result } from "./verdicts.ts";

const drillClass = "executor-killed";

export const executorDrill: ChecklistItem<CheckContext> = {
  number: 11,
  id: "executor-drill",
  question: "Does a job heal by itself when the executor that runs it is killed?",
  why: "Machines die in the middle of a job. Whether another one takes over is known by trying, not by reading.",
  how: "The records of drills of the class executor-killed: the last one that ended with an answer must be a pass, its fault must have been in effect and taken back, and it must be recent.",
  check: (context) => inParts(context, { "the records of drills": () => healed(context) }),
};

async function healed(context: CheckContext): Promise<Result[]> {
  const [history] = await historiesOf(context, [drillClass]);
  const { pass, fail, evidence } = history!;
  const scope = clusterScope(context);
  const todo = drillCommand(drillClass);
  const failed = failedLast(history!);
  if (failed !== undefined)
    return [
      result(scope, "fail", failed, evidence, { todo: `look at run ${fail!.runId}, mend it, then ${todo}` }),
    ];
  const stale = staleness(history!, context.maxAgeMs.drill);
  if (stale !== undefined) return [result(scope, "fail", `${drillClass} ${stale}`, evidence, { todo })];
  return [
    result(scope, "pass", `an executor was killed ${days(pass!.ageMs)} ago and the work went on`, evidence),
  ];
}
