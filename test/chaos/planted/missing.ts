/** Faults in which something that had to happen did not, or was left half done. */
import { drop, exactly, executionOf, type PlantedFault, pickOr, same, withPlace } from "./place.ts";

export const missing: readonly PlantedFault[] = [
  {
    class: "lost",
    way: "a fire without any trace",
    plant: withPlace(exactly, (history, { obligation: { job, fireTime } }) => {
      drop(history, { job, fireTime });
      history.executions = history.executions!.filter((row) => !same(row, { job, fireTime }));
    }),
  },
  {
    class: "lost",
    way: "a fire whose attempts all failed",
    plant: withPlace(exactly, (history, { obligation: { job, fireTime } }) => {
      drop(history, { job, fireTime }, ["effects"] as never);
      for (const row of history.attempts) if (same(row, { job, fireTime })) row.status = "failed";
      executionOf(history, { job, fireTime })!.status = "failed";
    }),
  },
  {
    class: "lost",
    way: "a skipped fire without its record",
    plant(history, random) {
      const skipped = history.obligations.filter(
        (o) =>
          (o.allowed === "at-most-one" &&
            !history.effects.some((row) => same(row, { job: o.job, fireTime: o.fireTime }))) ||
          o.because === "blocked",
      );
      const chosen = pickOr(random, skipped);
      if (!chosen) return false;
      const execution = executionOf(history, { job: chosen.job, fireTime: chosen.fireTime })!;
      if (random.chance(0.5)) history.executions = history.executions!.filter((row) => row !== execution);
      else execution.reason = undefined;
      return true;
    },
  },
  {
    class: "partial",
    way: "one shard without any trace",
    plant: withPlace(
      (o) => o.shardCount > 1,
      (history, { key }) => drop(history, key),
    ),
  },
  {
    class: "partial",
    way: "one shard whose attempts all failed",
    plant: withPlace(
      (o) => o.shardCount > 1,
      (history, { key }) => {
        drop(history, key, ["effects"] as never);
        for (const row of history.attempts) if (same(row, key)) row.status = "failed";
      },
    ),
  },
  {
    class: "interrupted",
    way: "an attempt still recorded as running",
    plant: withPlace(
      () => true,
      (history, { success, key }) => {
        success.status = "running";
        success.endedAt = null;
        executionOf(history, key)!.status = "running";
      },
    ),
  },
  {
    class: "interrupted",
    way: "an execution that nobody took up again",
    plant: withPlace(
      () => true,
      (history, { obligation: { job, fireTime } }, random) => {
        drop(history, { job, fireTime });
        executionOf(history, { job, fireTime })!.status = random.pick(["planned", "pending", "interrupted"]);
      },
    ),
  },
];
