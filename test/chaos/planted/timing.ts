/** Faults against the clock and against the misfire policy. */
import {
  drop,
  exactly,
  executionOf,
  nextSeq,
  type PlantedFault,
  pickOr,
  same,
  shifted,
  withPlace,
} from "./place.ts";

export const timing: readonly PlantedFault[] = [
  {
    class: "early",
    way: "started before its time",
    plant: withPlace(
      () => true,
      (_, { success, obligation }, random) => {
        success.startedAt = shifted(obligation.fireTime, -random.between(1, 300_000));
      },
    ),
  },
  {
    class: "late",
    way: "started too late without a marker",
    plant: withPlace(
      (o) => o.misfire === undefined || o.misfire.policy === "run-now",
      (history, { obligation: { job, fireTime } }, random) => {
        const lateMs = random.between(5_001, 60_000);
        executionOf(history, { job, fireTime })!.trigger = "schedule";
        for (const row of history.attempts)
          if (same(row, { job, fireTime })) row.startedAt = shifted(fireTime, lateMs);
      },
    ),
  },
  {
    class: "misfire-mishandled",
    way: "skipped although the policy is run-now",
    plant: withPlace(
      (o) => exactly(o) && o.misfire?.policy === "run-now",
      (history, { obligation: { job, fireTime } }) => {
        drop(history, { job, fireTime });
        Object.assign(executionOf(history, { job, fireTime })!, { status: "missed", reason: "too late" });
      },
    ),
  },
  {
    class: "misfire-mishandled",
    way: "run although the policy is skip, or the window had passed",
    plant: withPlace(
      (o) => o.misfire !== undefined && o.misfire.policy !== "run-now",
      (history, { obligation: { job, fireTime } }, random) => {
        const lateMs = random.between(20_001, 90_000);
        for (const row of history.attempts)
          if (same(row, { job, fireTime })) row.startedAt = shifted(fireTime, lateMs);
      },
    ),
  },
  {
    class: "misfire-mishandled",
    way: "missed, but it ran or is not on record",
    plant(history, random) {
      const chosen = pickOr(
        random,
        history.obligations.filter((o) => o.because === "missed"),
      );
      const model = history.effects[0];
      if (!chosen || !model) return false;
      const key = { job: chosen.job, fireTime: chosen.fireTime };
      if (random.chance(0.5)) history.executions = history.executions!.filter((row) => !same(row, key));
      else history.effects.push({ ...model, ...key, shardNo: 0, seq: nextSeq(history) });
      return true;
    },
  },
];
