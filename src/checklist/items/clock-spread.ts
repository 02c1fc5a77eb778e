/** What processes say of the clocks of their hosts, held against each other. */
import type { OffsetRow } from "../../store/checklist/clocks.ts";
import type { Result } from "../item.ts";
import { hostScope, result } from "./verdicts.ts";

export const clockTodo = "escapement facts HOST; mend its time service";

/** By how much a clock is off at the very least. */
export function atLeastOff({ offsetMs, errorMs }: OffsetRow): number {
  return Math.max(0, Math.abs(offsetMs!) - errorMs);
}

/** By how much two clocks differ at the very least. */
function atLeastApart(a: OffsetRow, b: OffsetRow): number {
  return Math.max(0, Math.abs(a.offsetMs! - b.offsetMs!) - a.errorMs - b.errorMs);
}

/** The two that surely differ most; undefined for fewer than two. */
function furthest(
  rows: readonly OffsetRow[],
): { low: OffsetRow; high: OffsetRow; apartMs: number } | undefined {
  let most: { low: OffsetRow; high: OffsetRow; apartMs: number } | undefined;
  for (const [i, a] of rows.entries()) {
    for (const b of rows.slice(i + 1)) {
      const apartMs = atLeastApart(a, b);
      const [low, high] = a.offsetMs! <= b.offsetMs! ? [a, b] : [b, a];
      if (!most || apartMs > most.apartMs) most = { low, high, apartMs };
    }
  }
  return most;
}

/** A host has one clock: of what its processes say of it, what is nearest to the database's counts. */
export function nearestOfHosts(measured: readonly OffsetRow[]): ReadonlyMap<string, OffsetRow> {
  const nearest = new Map<string, OffsetRow>();
  for (const row of measured) {
    const before = nearest.get(row.host);
    const nearer = before ? atLeastOff(row) - atLeastOff(before) || row.errorMs - before.errorMs : -1;
    if (nearer < 0) nearest.set(row.host, row);
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
    const most = furthest(measured.filter((row) => row.host === host));
    if (!most || most.apartMs <= limitMs) return [];
    const message = `its processes differ by ${Math.round(most.apartMs)} ms on one clock: a measurement was held up`;
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
  const most = furthest([...perHost.values()]);
  if (!most) {
    const [host] = perHost.keys();
    return result(scope, "pass", `all that measure are on ${host}, which has one clock`, evidence);
  }
  const { low, high, apartMs } = most;
  if (apartMs <= limitMs) {
    const message = `the clocks of ${perHost.size} hosts are within ${limitMs} ms of each other`;
    return result(scope, "pass", message, evidence);
  }
  const message = `the clocks of ${low.host} and ${high.host} are ${Math.round(apartMs)} ms apart, more than ${limitMs}`;
  return result(scope, "fail", message, evidence, { todo: clockTodo });
}
