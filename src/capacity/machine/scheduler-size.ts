/** How large a scheduler's machine is: small. What it is paid for is being awake and on time. */
import { type Figure, figure } from "../figure.ts";

export interface SchedulerSize {
  readonly machines: Figure;
  readonly cores: Figure;
  readonly memoryBytes: Figure;
}

const gibibyte = 2 ** 30;
/** Up to here the smaller end of the rule is enough. */
const smallJobs = 300;
const smallFires = 3_000;

/** @param jobs defined jobs. @param firesPerDay executions a day, all jobs together. */
export function schedulerSize(jobs: number, firesPerDay: number): SchedulerSize {
  const isSmall = jobs <= smallJobs && firesPerDay <= smallFires;
  const inputs = { jobs, firesPerDay };
  const why = isSmall
    ? `${jobs} jobs and ${Math.round(firesPerDay)} fires a day: the lower end`
    : `${jobs} jobs and ${Math.round(firesPerDay)} fires a day: the upper end`;
  return {
    machines: figure("schedulers", 2, "count", "one plans, one stands by", inputs, "rule.scheduler-size"),
    cores: figure("cores of each", isSmall ? 2 : 4, "count", why, inputs, "rule.scheduler-size"),
    memoryBytes: figure(
      "memory of each",
      (isSmall ? 8 : 16) * gibibyte,
      "memory",
      why,
      inputs,
      "rule.scheduler-size",
    ),
  };
}
