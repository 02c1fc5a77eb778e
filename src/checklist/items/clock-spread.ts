/** What processes say of the clocks of their hosts, held against each other. */
import type { OffsetRow } from "../../store/checklist/clocks.ts";
import type { Result } from "../item.ts";
import { hostScope, result } from "./verdicts.ts";

export const clockTodo = "escapement facts HOST; mend its time service";

/** A host has one clock: of what its processes say of it, what is nearest to the database's counts. */
export function nearestOfHosts(measured: readonly OffsetRow[]): ReadonlyMap<string, OffsetRow> {
  const nearest = new Map<string, OffsetRow>();
  for (const row of measured) {
    const before = nearest.get(row.host);
    if (!before || Math.abs(row.offsetMs!) < Math.abs(before.offsetMs!)) nearest.set(row.host, row);
  }
  return nearest;
}

/** Two processes that read one clock and say different things were held up: this is about them, not the clock. */
export function disagreements(
  measured: readonly OffsetRow[],
  limitMs: number,
  evidence: Result["evidence"],
): Result[] {
  return [...new Set(measured.map(({ host }) => host))].flatMap((host) => {
    const offsets = measured.filter((row) => row.host === host).map(({ offsetMs }) => offsetMs!);
    const spreadMs = Math.max(...offsets) - Math.min(...offsets);
    if (spreadMs <= limitMs) return [];
    const message = `its processes differ by ${Math.round(spreadMs)} ms on one clock: a measurement was held up`;
    return [result(hostScope({ name: host }), "unknown", message, evidence, { todo: "look again" })];
  });
}

/** The two hosts whose clocks are furthest from each other. */
export function apart(
  perHost: ReadonlyMap<string, OffsetRow>,
  limitMs: number,
  scope: Result["scope"],
  evidence: Result["evidence"],
): Result {
  const sorted = [...perHost.values()].sort((a, b) => a.offsetMs! - b.offsetMs!);
  const [low, high] = [sorted[0]!, sorted.at(-1)!];
  const apartMs = high.offsetMs! - low.offsetMs!;
  if (apartMs <= limitMs) {
    const message =
      sorted.length === 1
        ? `all that measure are on ${low.host}, which has one clock`
        : `the clocks of ${sorted.length} hosts are within ${limitMs} ms of each other`;
    return result(scope, "pass", message, evidence);
  }
  const message = `the clocks of ${low.host} and ${high.host} are ${Math.round(apartMs)} ms apart, more than ${limitMs}`;
  return result(scope, "fail", message, evidence, { todo: clockTodo });
}
