/** Item 12: the four ways to fail are tried again and again. */
import { mandatoryDrillClasses } from "../../spec/drill-definition.ts";
import type { CheckContext } from "../context.ts";
import type { ChecklistItem, Result } from "../item.ts";
import { days, drillCommand, failedLast, historiesOf, staleness } from "./drill-passes.ts";
import { inParts } from "./parts.ts";
import { clusterScope, result } from "./verdicts.ts";

const executorKilled = "executor-killed";

export const faultDrills: ChecklistItem<CheckContext> = {
  number: 12,
  id: "fault-drills",
  question:
    "Have a killed executor, a cut network, a wrong clock and a stopped primary been tried lately, each with a pass?",
  why: "Each of the four shows another kind of failure: interrupted, half done, done twice, not done. One of them often and the others never proves a quarter.",
  how: "The last pass of each class in the records of drills, its age, that its fault was in effect and taken back, and that no later one failed.",
  check: (context) => inParts(context, { "the records of drills": () => classes(context) }),
};

async function classes(context: CheckContext): Promise<Result[]> {
  const scope = clusterScope(context);
  return (await historiesOf(context, mandatoryDrillClasses)).map((history) => {
    // A kill that was not healed is the answer of item 11.
    const failed = history.class === executorKilled ? undefined : failedLast(history);
    if (failed !== undefined)
      return result(scope, "fail", `${history.class}: ${failed}`, history.evidence, {
        todo: `look at run ${history.fail!.runId}, mend it, then ${drillCommand(history.class)}`,
      });
    const stale = staleness(history, context.maxAgeMs.drill);
    if (stale === undefined) {
      const message = `${history.class} passed ${days(history.pass!.ageMs)} ago`;
      return result(scope, "pass", message, history.evidence);
    }
    return result(scope, "fail", `${history.class} ${stale}`, history.evidence, {
      todo: drillCommand(history.class),
    });
  });
}
