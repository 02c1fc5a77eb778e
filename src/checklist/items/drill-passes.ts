/** Drills as evidence: the last pass of a class in which the fault really happened, and its age. */
import { formatDuration } from "../../base/duration.ts";
import type { mandatoryDrillClasses } from "../../spec/drill-definition.ts";
import { type DrillHistoryRow, readDrillHistory } from "../../store/checklist/drill-passes.ts";
import type { Look } from "../../store/checklist/look.ts";
import type { CheckContext } from "../context.ts";
import type { Evidence } from "../item.ts";
import { openStore } from "./parts.ts";
import { cut, queryEvidence } from "./verdicts.ts";

/**
 * The drill of each class that comes with the program; a site may have others. Of stop-primary the variant that
 * profiles allow: they refuse a reset of the power, so the whole drill ends with 4.
 */
const shippedDrills: Readonly<Record<(typeof mandatoryDrillClasses)[number], string>> = {
  "executor-killed": "kill-executor",
  "network-cut": "cut-network",
  "clock-skewed": "skew-clock",
  "primary-stopped": "stop-primary --variant crash",
};

/** What is to be typed for a new answer of a class. */
export function drillCommand(drillClass: (typeof mandatoryDrillClasses)[number]): string {
  return `escapement drill run ${shippedDrills[drillClass]} -i inventory.yaml --cluster cluster.yaml --yes`;
}

export interface ClassHistory {
  readonly class: (typeof mandatoryDrillClasses)[number];
  readonly pass: DrillHistoryRow | undefined;
  /** Says pass, but without a fault that was in effect and taken back. */
  readonly emptyPass: DrillHistoryRow | undefined;
  readonly fail: DrillHistoryRow | undefined;
  readonly evidence: readonly Evidence[];
}

/** @throws when the store cannot be asked */
export async function historiesOf(
  context: CheckContext,
  classes: readonly ClassHistory["class"][],
): Promise<readonly ClassHistory[]> {
  const looked = await readDrillHistory(openStore(context), classes);
  return classes.map((one) => historyOf(context, looked, one));
}

function historyOf(
  context: CheckContext,
  looked: Look<DrillHistoryRow>,
  one: ClassHistory["class"],
): ClassHistory {
  const rows = looked.rows.filter((row) => row.class === one);
  const pass = rows.find((row) => row.verdict === "pass" && row.happened);
  const fail = newest(rows.filter((row) => row.verdict === "fail"));
  const evidence = [queryEvidence(context, looked, rows)];
  for (const row of [pass, fail]) if (row) evidence.push(drillEvidence(row));
  return {
    class: one,
    pass,
    emptyPass: rows.find((row) => row.verdict === "pass" && !row.happened),
    fail,
    evidence,
  };
}

function newest(rows: readonly DrillHistoryRow[]): DrillHistoryRow | undefined {
  return [...rows].sort((a, b) => b.endedAt.getTime() - a.endedAt.getTime())[0];
}

function drillEvidence(row: DrillHistoryRow): Evidence {
  return {
    kind: "drill",
    what: `drill ${row.drill}, run ${row.runId}`,
    output: cut(
      `${row.verdict}: ${row.reason ?? "no reason given"}; targets ${JSON.stringify(row.targets)}; version ${row.version}`,
    ),
    at: row.endedAt.toISOString(),
    ageMs: row.ageMs,
  };
}

/** Why the last pass does not count; undefined where it does. */
export function staleness({ pass, emptyPass }: ClassHistory, mostAgeMs: number): string | undefined {
  const most = formatDuration(mostAgeMs);
  if (!pass) return emptyPass ? "has a pass in which no fault was in effect" : "has never passed";
  if (pass.ageMs > mostAgeMs) return `has passed ${days(pass.ageMs)} ago, which is more than ${most}`;
  if (pass.ageMs < 0) return "has passed in the future";
  return undefined;
}

/** The last drill that ended with an answer failed; undefined when it did not. */
export function failedLast({ pass, fail }: ClassHistory): string | undefined {
  if (!fail || (pass && pass.endedAt >= fail.endedAt)) return undefined;
  return `the last drill failed: ${fail.reason ?? "no reason given"}`;
}

export function days(ms: number): string {
  return `${(ms / 86_400_000).toFixed(1)} days`;
}
