/** Faults in which something happened once too often, or should not have happened at all. */
import {
  addAttempt,
  addEffect,
  executionOf,
  nextSeq,
  nextToken,
  type PlantedFault,
  pickOr,
  ran,
  same,
  shifted,
  withPlace,
} from "./place.ts";

export const surplus: readonly PlantedFault[] = [
  {
    class: "duplicate",
    way: "the successful claim applied it once more",
    plant: withPlace(
      () => true,
      (history, { effect, success: { attempt, fenceToken } }) => {
        // With `once` the effect may be an older attempt's; the successful one adds its own.
        history.effects.push({ ...effect, attempt, fenceToken, seq: nextSeq(history) });
      },
    ),
  },
  {
    class: "duplicate",
    way: "run again after the success",
    plant: withPlace(
      () => true,
      (history, at) => addEffect(history, addAttempt(history, at, "failed"), at.effect.payload),
    ),
  },
  {
    class: "duplicate",
    way: "claimed again after the success, without effect",
    plant: withPlace(
      () => true,
      (history, at, random) => addAttempt(history, at, random.pick(["failed", "interrupted"])),
    ),
  },
  {
    class: "duplicate",
    way: "two successes",
    plant: withPlace(
      () => true,
      (history, at) => addEffect(history, addAttempt(history, at, "success"), at.effect.payload),
    ),
  },
  {
    class: "duplicate",
    way: "an interrupted attempt left another result",
    plant: withPlace(
      (o) => o.mode === "replace",
      (history, { key, effect }) => {
        const others = history.effects.filter((row) => same(row, key) && row !== effect);
        if (others.length === 0) return false;
        others[0]!.payload += "+10";
        return true;
      },
    ),
  },
  {
    class: "duplicate",
    way: "one period by two fires",
    plant: withPlace(
      (o) => o.period !== undefined,
      (history, { obligation }, random) => {
        const other = pickOr(
          random,
          ran(history, (o) => o.job === obligation.job && o !== obligation),
        );
        if (!other) return false;
        other.period = obligation.period;
        return true;
      },
    ),
  },
  {
    class: "unexpected",
    way: "an effect at a wrong fire time",
    plant: withPlace(
      () => true,
      (history, { effect }, random) => {
        history.effects.push({
          ...effect,
          fireTime: shifted(effect.fireTime, random.pick([-1, 1]) * random.between(1, 999)),
          seq: nextSeq(history),
        });
      },
    ),
  },
  {
    class: "unexpected",
    way: "a job nobody defined",
    plant: withPlace(
      () => true,
      (history, { success }) => {
        history.attempts.push({ ...success, job: "stranger", fenceToken: nextToken(history) });
      },
    ),
  },
  {
    class: "unexpected",
    way: "a shard beyond the last",
    plant: withPlace(
      () => true,
      (history, { effect, obligation }, random) => {
        history.effects.push({
          ...effect,
          shardNo: obligation.shardCount + random.between(0, 3),
          seq: nextSeq(history),
        });
      },
    ),
  },
  {
    class: "unexpected",
    way: "a revoked or blocked fire that ran",
    plant(history, random) {
      const chosen = pickOr(
        random,
        history.obligations.filter((o) => o.because === "revoked" || o.because === "blocked"),
      );
      const model = history.effects[0];
      if (!chosen || !model) return false;
      history.effects.push({
        ...model,
        job: chosen.job,
        fireTime: chosen.fireTime,
        shardNo: 0,
        seq: nextSeq(history),
      });
      return true;
    },
  },
  {
    class: "unexpected",
    way: "an execution row of no fire",
    plant: withPlace(
      () => true,
      (history, { obligation }) => {
        history.executions!.push({
          ...executionOf(history, { job: obligation.job, fireTime: obligation.fireTime })!,
          fireTime: shifted(obligation.fireTime, 1),
        });
      },
    ),
  },
];
