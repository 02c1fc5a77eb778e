/** What is wrong with a profile although every field is well formed. */

import type { SectionName } from "../../spec/host-profile-schema.ts";
import type { Problem } from "../../spec/problem.ts";
import type { ResolvedProfile, Section } from "./resolved-profile.ts";

interface Judgement {
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
}

type Severity = "problems" | "warnings";

export function lintProfile(profile: ResolvedProfile): Judgement {
  const found: Record<Severity, Problem[]> = { problems: [], warnings: [] };
  const section = <S extends SectionName>(name: S) => profile.sections.get(name) as Section<S> | undefined;
  const tell = (severity: Severity, where: Section<SectionName>, field: string, message: string) => {
    const value = where.placeOf(field);
    found[severity].push({ ...value, path: `spec.${where.name}.${field}`, message });
  };

  const clock = section("clock");
  if (clock) {
    const { makeStep, minSources, leastSources, waitAtBoot, leapSeconds, maxSlewRatePpm } = clock.value;
    if (makeStep.updates < 0)
      tell("problems", clock, "makeStep.updates", "steps the clock at any time: fires are lost or doubled");
    if (makeStep.updates > 0 && section("scheduler") && !waitAtBoot)
      tell(
        "problems",
        clock,
        "waitAtBoot",
        "must be true where the clock may step at boot: the scheduler must start after the step",
      );
    if (minSources < 2)
      tell("warnings", clock, "minSources", "lets one wrong source move the clock; two must agree");
    if (leastSources < 3)
      tell("warnings", clock, "leastSources", "of two sources nobody can say which one is wrong; name three");
    if (minSources > leastSources)
      tell("problems", clock, "minSources", "is more than leastSources: the clock might never follow");
    if (leapSeconds === "step" && section("scheduler"))
      tell("problems", clock, "leapSeconds", "a leap second would step the clock back by a second");
    if (maxSlewRatePpm > 1_000 && section("scheduler"))
      tell("warnings", clock, "maxSlewRatePpm", "while slewing, every wait is wrong by up to this rate");
  }

  const vip = section("virtualIp");
  if (vip) {
    const { preempt, priorityStep, check, highestPriority } = vip.value;
    if (priorityStep === 0)
      tell("problems", vip, "priorityStep", "gives both hosts one priority: both may hold the address");
    if (priorityStep >= highestPriority)
      tell("problems", vip, "priorityStep", "leaves no priority for the second host");
    if (!preempt && check.weight !== 0)
      tell(
        "problems",
        vip,
        "check.weight",
        "must be 0 without preemption: a lower priority alone makes nobody take over",
      );
    if (preempt && check.weight !== 0 && Math.abs(check.weight) <= priorityStep)
      tell(
        "problems",
        vip,
        "check.weight",
        `does not bridge the gap of ${priorityStep} between the priorities: a failure changes nothing`,
      );
    if (check.timeout >= check.every)
      tell("problems", vip, "check.timeout", "must be shorter than the time between two checks");
  }

  const executor = section("executor");
  if (executor) {
    const { oomPolicy, mainClass, cpu, memory, io } = executor.value;
    if (oomPolicy !== "continue")
      tell(
        "problems",
        executor,
        "oomPolicy",
        "must be continue: else one job that runs out of memory ends every job of the host",
      );
    const shares = { cpu, memory, io };
    const others = Object.entries(shares).filter(([name]) => name !== mainClass);
    if (others.reduce((sum, [, one]) => sum + one.share, 0) > 0.9)
      tell("problems", executor, "mainClass", "the other classes take more than 0.9 of the host");
  }

  const cluster = section("cluster");
  if (executor && cluster && executor.value.stopTimeout <= cluster.value.grace)
    tell(
      "problems",
      executor,
      "stopTimeout",
      "must be longer than the cluster's grace: systemd would kill an executor that still gives its shards back",
    );

  const store = section("recordStore");
  if (store && section("watchman"))
    tell("warnings", store, "major", "the watchman would fall silent together with what it watches");
  return found;
}
