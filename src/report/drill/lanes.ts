/** Attempts by who ran them, in the order of their first start. Pure. */
import type { AttemptRecord, History } from "../../chaos/history.ts";

/** A name that fits beside the picture: an incarnation by its first letters. */
const nameLength = 20;

export function laneOf(history: History | null): Map<string, AttemptRecord[]> {
  const lanes = new Map<string, AttemptRecord[]>();
  const started = (history?.attempts ?? [])
    .filter(({ startedAt }) => startedAt !== null)
    .sort((a, b) => (a.startedAt! < b.startedAt! ? -1 : a.startedAt! > b.startedAt! ? 1 : 0));
  for (const attempt of started) {
    const name = attempt.owner === "" ? "unknown" : attempt.owner.slice(0, nameLength);
    const lane = lanes.get(name);
    if (lane) lane.push(attempt);
    else lanes.set(name, [attempt]);
  }
  return lanes;
}
