/**
 * One fault planted into a correct history: for every class several ways to
 * produce it. Each changes the history in place and must lead to findings of
 * its own class and of no other.
 */
import type { FindingClass } from "../../src/chaos/checkers/finding.ts";
import {
  type AttemptRecord,
  type Effect,
  fireKey,
  type History,
  type Obligation,
} from "../../src/chaos/history.ts";
import type { SeededRandom } from "./seeded-random.ts";

export interface PlantedFault {
  readonly class: FindingClass;
  readonly way: string;
  /** @returns false if this history offers no place for it. */
  plant(history: History, random: SeededRandom): boolean;
}

type Key = { job: string; fireTime: string; shardNo?: number };
const same = (a: Key, b: Key) =>
  a.job === b.job && a.fireTime === b.fireTime && (b.shardNo === undefined || a.shardNo === b.shardNo);
const shifted = (iso: string, ms: number) => new Date(Date.parse(iso) + ms).toISOString();

function drop(
  history: History,
  key: Key,
  lists = ["attempts", "effects", "refusals", "sightings"] as const,
): void {
  for (const list of lists) (history[list] as Key[]) = history[list].filter((row) => !same(row, key));
}

/** Fires that ran to success. */
function ran(history: History, accept: (obligation: Obligation) => boolean = () => true): Obligation[] {
  const done = new Set(history.effects.map(fireKey));
  return history.obligations.filter(
    (item) => item.allowed !== "none" && done.has(fireKey(item)) && accept(item),
  );
}

function pickOr<T>(random: SeededRandom, items: readonly T[]): T | undefined {
  return items.length === 0 ? undefined : random.pick(items);
}

const nextSeq = (history: History) =>
  1 +
  [history.effects, history.refusals, history.sightings]
    .flat()
    .reduce((max, row) => Math.max(max, row.seq), 0);
const nextToken = (history: History) =>
  1 + history.attempts.reduce((max, row) => Math.max(max, row.fenceToken), 0);

interface Place {
  obligation: Obligation;
  success: AttemptRecord;
  effect: Effect;
  key: Required<Key>;
}

/** A random shard that succeeded, with the newest effect it has. */
function place(
  history: History,
  random: SeededRandom,
  accept: (o: Obligation) => boolean = () => true,
): Place | undefined {
  const obligation = pickOr(random, ran(history, accept));
  if (!obligation) return undefined;
  const key = {
    job: obligation.job,
    fireTime: obligation.fireTime,
    shardNo: random.between(0, obligation.shardCount - 1),
  };
  const success = history.attempts.find((row) => same(row, key) && row.status === "success")!;
  const effect = history.effects.filter((row) => same(row, key)).at(-1)!;
  return { obligation, success, effect, key };
}

/** Adds an attempt after the last one, that is recorded with `status`. */
function addAttempt(
  history: History,
  { key, success }: Place,
  status: AttemptRecord["status"],
): AttemptRecord {
  const last = Math.max(...history.attempts.filter((row) => same(row, key)).map((row) => row.attempt));
  const row = { ...success, attempt: last + 1, fenceToken: nextToken(history), status };
  history.attempts.push(row);
  return row;
}

function addEffect(history: History, claim: AttemptRecord, payload: string): void {
  const { job, fireTime, shardNo, attempt, fenceToken } = claim;
  history.effects.push({ job, fireTime, shardNo, attempt, fenceToken, payload, seq: nextSeq(history) });
}

function executionOf(history: History, key: Key) {
  return history.executions!.find((row) => same(row, { job: key.job, fireTime: key.fireTime }));
}

const exactly = (o: Obligation) => o.allowed === "exactly-one";

function withPlace(
  accept: (o: Obligation) => boolean,
  change: (history: History, at: Place, random: SeededRandom) => unknown,
): PlantedFault["plant"] {
  return (history, random) => {
    const at = place(history, random, accept);
    return at !== undefined && change(history, at, random) !== false;
  };
}

export const plantedFaults: readonly PlantedFault[] = [
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
  {
    class: "stale",
    way: "two claims applied in the wrong order",
    plant: withPlace(
      (o) => o.mode === "replace",
      (history, { key }) => {
        const effects = history.effects.filter((row) => same(row, key));
        if (effects.length < 2) return false;
        [effects[0]!.seq, effects[1]!.seq] = [effects[1]!.seq, effects[0]!.seq];
        return true;
      },
    ),
  },
  {
    class: "stale",
    way: "an old claim accepted after the new one had been seen",
    plant: withPlace(
      (o) => o.mode === "replace",
      (history, { key, effect }) => {
        const refused = history.refusals.find((row) => same(row, key) && row.reason === "stale");
        if (!refused || history.effects.some((row) => row.fenceToken === refused.fenceToken)) return false;
        history.refusals = history.refusals.filter((row) => row !== refused);
        const { reason: _, ...claim } = refused;
        history.effects.push({ ...claim, payload: effect.payload });
        return true;
      },
    ),
  },
  {
    class: "orphan",
    way: "a claim that no record knows",
    plant: withPlace(
      () => true,
      (history, { key, success }) => {
        const earlier = history.attempts.filter((row) => same(row, key) && row !== success);
        const seen = [...history.effects, ...history.sightings].map((row) => row.fenceToken);
        // Without its record a frozen process would have no excuse for its overlap, too.
        const frozen = history.faults.flatMap((fault) => fault.unsupervised);
        const victim = earlier.find((row) => seen.includes(row.fenceToken) && !frozen.includes(row.owner));
        if (!victim) return false;
        // Tokens are ten apart, so this one was never granted.
        victim.fenceToken += 1;
        return true;
      },
    ),
  },
  {
    class: "orphan",
    way: "a success without its effect",
    plant: withPlace(
      () => true,
      (history, { key, effect, obligation }) => {
        history.effects = history.effects.filter((row) =>
          obligation.mode === "once" ? !same(row, key) : row !== effect,
        );
      },
    ),
  },
  {
    class: "orphan",
    way: "an effect without a recorded success",
    plant: withPlace(
      () => true,
      (_, { success }) => {
        success.status = "failed";
      },
    ),
  },
  {
    class: "overlap",
    way: "a process that outlived its lease",
    plant: withPlace(
      () => true,
      (history, { key }, random) => {
        const lives = history.sightings.filter((row) => same(row, key)).sort((a, b) => a.seq - b.seq);
        const frozen = new Set(history.faults.flatMap((fault) => fault.unsupervised));
        const owner = history.attempts.find((row) => row.fenceToken === lives[0]!.fenceToken)!.owner;
        if (lives.length < 2 || frozen.has(owner)) return false;
        lives[0]!.until = random.chance(0.3) ? null : shifted(lives[1]!.from, random.between(1, 50));
        return true;
      },
    ),
  },
  {
    class: "overlap",
    way: "an excuse that was never proven",
    plant(history, random) {
      const excuse = pickOr(
        random,
        history.faults.filter((fault) => fault.unsupervised.length > 0),
      );
      if (!excuse) return false;
      excuse.proven = false;
      return true;
    },
  },
  {
    class: "overlap",
    way: "a token granted twice",
    plant: withPlace(
      () => true,
      (history, { key, success }) => {
        const earlier = history.attempts.filter((row) => same(row, key) && row !== success);
        const seen = new Set([...history.effects, ...history.sightings].map((row) => row.fenceToken));
        const victim = earlier.find((row) => !seen.has(row.fenceToken));
        if (victim) victim.fenceToken = success.fenceToken;
        else history.attempts.push({ ...success, status: "failed" });
      },
    ),
  },
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
