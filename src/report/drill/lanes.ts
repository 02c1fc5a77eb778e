/** Attempts by where they ran, in the order of their first start. Pure. */
import type { AttemptRecord, History } from "../../chaos/history.ts";

/** A name that fits beside the picture; where the node is not known, the first letters of the incarnation. */
const nameLength = 20;

export function laneOf(history: History | null): Map<string, AttemptRecord[]> {
  const lanes = new Map<string, AttemptRecord[]>();
  const started = (history?.attempts ?? [])
    .filter(({ startedAt }) => startedAt !== null)
    .sort((a, b) => (a.startedAt! < b.startedAt! ? -1 : a.startedAt! > b.startedAt! ? 1 : 0));
  for (const attempt of started) {
    const name = (attempt.node ?? (attempt.owner || "unknown")).slice(0, nameLength);
    const lane = lanes.get(name);
    if (lane) lane.push(attempt);
    else lanes.set(name, [attempt]);
  }
  return lanes;
}
