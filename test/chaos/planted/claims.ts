/** Faults in which claims, the witness and the records disagree. */
import { type PlantedFault, pickOr, same, shifted, withPlace } from "./place.ts";

export const claims: readonly PlantedFault[] = [
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
        const lives = history.sightings
          .filter((row) => same(row, key))
          .sort((a, b) => a.fenceToken - b.fenceToken);
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
    way: "two healthy processes behind one that is excused for longer than both",
    plant: withPlace(
      () => true,
      (history, { key }) => {
        const lives = history.sightings
          .filter((row) => same(row, key))
          .sort((a, b) => a.fenceToken - b.fenceToken);
        const ownerOf = new Map(history.attempts.map((row) => [row.fenceToken, row.owner]));
        const excuseOf = (life: (typeof lives)[number]) =>
          history.faults.find((fault) => fault.unsupervised.includes(ownerOf.get(life.fenceToken)!));
        const [zombie, second, third] = lives;
        const excuse = zombie && excuseOf(zombie);
        if (!third || !excuse || lives.slice(1).some(excuseOf) || zombie.from >= second!.from) return false;
        second!.until = shifted(third.from, 10);
        zombie.until = excuse.until = shifted(third.from, 20);
        return true;
      },
    ),
  },
  {
    class: "overlap",
    way: "an excuse of the newer claim alone",
    plant: withPlace(
      () => true,
      (history, { key }) => {
        const lives = history.sightings.filter((row) => same(row, key));
        const ownerOf = new Map(history.attempts.map((row) => [row.fenceToken, row.owner]));
        const excuse = history.faults.find((fault) =>
          lives.some((life) => fault.unsupervised.includes(ownerOf.get(life.fenceToken)!)),
        );
        if (!excuse) return false;
        const zombie = lives.find((life) => excuse.unsupervised.includes(ownerOf.get(life.fenceToken)!))!;
        const newer = lives.find(
          (life) =>
            life.fenceToken > zombie.fenceToken && life.from <= zombie.until! && life.until! >= zombie.from,
        );
        if (!newer) return false;
        excuse.unsupervised = [ownerOf.get(newer.fenceToken)!];
        return true;
      },
    ),
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
];
