/** The part of item 5 that holds the time to drain against the gap between fires, job by job. */
import { formatDuration } from "../../base/duration.ts";
import {
  type CatchUpRow,
  readCatchUpWork,
  readSlots,
  type SlotRow,
} from "../../store/checklist/catch-up-cap.ts";
import { type DurationRow, readDurations } from "../../store/checklist/durations.ts";
import type { Look } from "../../store/checklist/look.ts";
import type { CheckContext } from "../context.ts";
import type { Evidence, Result } from "../item.ts";
import { aloneMs, type CatchUpWork, type ClassSlots, classSlots, lineMs, slowness } from "./catch-up-line.ts";
import { type Pair, pairs } from "./job-files.ts";
import { databaseNow, openStore } from "./parts.ts";
import { shortestGap } from "./shortest-gap.ts";
import { answersAbout, clusterScope, computed, queryEvidence, result } from "./verdicts.ts";

/** Catch-up must leave half of the slots to what is on time. */
export const mostShare = 0.5;

interface Line {
  readonly row: CatchUpRow;
  readonly own: CatchUpWork;
  readonly slots: ClassSlots;
  /** Whether there is a success on record; else the timeout stands for the duration. */
  readonly isKnown: boolean;
  readonly others: number;
  /** Of the others those without a success on record. */
  readonly unknownOthers: number;
  readonly aloneMs: number;
  readonly togetherMs: number;
  /** The same without whatever has no success on record. */
  readonly provenMs: number;
}

export async function drains(context: CheckContext): Promise<Result[]> {
  const db = openStore(context);
  const now = await databaseNow(context);
  const durations = await readDurations(db, context.window.from);
  const slots = await readSlots(db);
  const work = await readCatchUpWork(db);
  const known = new Map(durations.rows.map((row) => [row.jobId, row]));
  const share = context.definitions.cluster?.definition.catchUp.share ?? mostShare;
  const lines = linesOf(work.rows, known, slots.rows[0]!, share);
  const results = (await pairs(context)).pairs.map((pair) => {
    const row = pair.applied && known.get(pair.applied.jobId);
    if (slots.rows[0]![pair.job.definition.resources.class] === 0) return noSlot(context, pair, slots);
    const found = drainOf(context, pair, lines.get(pair.name), now);
    if (!row) return found;
    const looked = [queryEvidence(context, durations, [row]), queryEvidence(context, slots)];
    return { ...found, evidence: [...found.evidence, ...looked] };
  });
  return [...wholeDrain(context, work, lines), ...results];
}

function linesOf(
  rows: readonly CatchUpRow[],
  known: ReadonlyMap<number, DurationRow>,
  slots: SlotRow,
  share: number,
): Map<string, Line> {
  const all = rows.map((row) => {
    const durationMs = known.get(row.jobId)?.p50Ms;
    return {
      row,
      isKnown: durationMs !== undefined,
      own: { ...row, durationMs: durationMs ?? row.timeoutMs },
    };
  });
  const lines = all.map(({ row, isKnown, own }): [string, Line] => {
    const ofClass = classSlots(slots[row.class], share);
    const others = all.filter(
      ({ row: one }) => one.class === row.class && one.state === "active" && one.fires > 0 && one !== row,
    );
    const inLine = (some: typeof others) =>
      lineMs(
        own.fires,
        some.map((one) => one.own),
        ofClass,
      ) / ofClass.free;
    const alone = aloneMs(own, ofClass);
    const provenOthers = others.filter((one) => one.isKnown);
    return [
      row.job,
      {
        ...{ row, own, slots: ofClass, isKnown, others: others.length, aloneMs: alone },
        unknownOthers: others.length - provenOthers.length,
        togetherMs: Math.ceil(alone + inLine(others)),
        provenMs: Math.ceil((isKnown ? alone : 0) + inLine(provenOthers)),
      },
    ];
  });
  return new Map(lines);
}

/** Nothing drains at all while no executor lives that has a slot for it. */
function noSlot(context: CheckContext, { job }: Pair, slots: Look<SlotRow>): Result {
  const message = `no executor that lives has a slot of class ${job.definition.resources.class}`;
  return answersAbout(job)(
    "unknown",
    message,
    [queryEvidence(context, slots)],
    "escapement status: start the executors",
  );
}

function drainOf(context: CheckContext, pair: Pair, line: Line | undefined, now: Date): Result {
  const { job, applied } = pair;
  const answer = answersAbout(job);
  const found = [pair.evidence];
  if (!line || !applied)
    return answer("unknown", "the store does not say what it would catch up", found, "escapement jobs apply");
  if (line.own.fires === 0) return answer("pass", "nothing is caught up", found);
  const gap = shortestGap(applied.fires, now);
  if (!gap) return answer("pass", "it fires once: no fire comes after it", found);
  const evidence = [sums(context, line, gap.gapMs)];
  const [alone, together, next] = [line.aloneMs, line.togetherMs, gap.gapMs].map(formatDuration);
  if (line.aloneMs > gap.gapMs)
    return line.isKnown
      ? answer(
          "fail",
          `catch-up takes up to ${alone}, longer than the ${next} to the next fire`,
          evidence,
          "lower spec.catchUp.maxFires, or make the job faster",
        )
      : answer(
          "unknown",
          "it has no success on record, so nobody knows how long catch-up takes",
          evidence,
          "run it once, then look again",
        );
  const { others, unknownOthers, isKnown, provenMs, row } = line;
  const inLine = `in one line with ${others} other job(s) of class ${row.class}`;
  if (line.togetherMs <= gap.gapMs)
    return answer(
      "pass",
      `catch-up drains within ${alone}${others > 0 ? `, ${inLine} within ${together}` : ""}`,
      evidence,
    );
  if (provenMs > gap.gapMs)
    return answer(
      "fail",
      `catch-up takes up to ${formatDuration(provenMs)} ${inLine}, longer than the ${next} to the next fire`,
      evidence,
      "lower spec.catchUp.maxFires of what stands in that line, give the job another class, or add slots",
    );
  const silent = unknownOthers + (isKnown ? 0 : 1);
  return answer(
    "unknown",
    `catch-up takes up to ${together} ${inLine}, longer than the ${next} to the next fire, if what has no success on record (${silent} job(s)) takes as long as it may`,
    evidence,
    "let each of them run once, then look again",
  );
}

function sums(context: CheckContext, line: Line, gapMs: number): Evidence {
  const { own, slots, isKnown, others } = line;
  const duration = formatDuration(Math.ceil(own.durationMs));
  const slow = slowness(own, slots).toFixed(2);
  const ahead = Math.round((line.togetherMs - line.aloneMs) * slots.free);
  const text = [
    `alone: ${own.fires} fire(s) × ${duration}${isKnown ? "" : " (its timeout)"} × ${slow} = ${formatDuration(line.aloneMs)}`,
    `in line: ${others} other job(s) of class ${line.row.class}, ${formatDuration(ahead)} of work ahead on ${slots.free} of ${slots.all} slot(s): ${formatDuration(line.togetherMs)} in all`,
    `the next fire is ${formatDuration(gapMs)} away at the least`,
  ];
  return computed(context, "fires × duration × share of slots, and the line before it", text.join("\n"));
}

/** What it comes to for the cluster, and what was counted; each job says for itself whether that is too long. */
function wholeDrain(
  context: CheckContext,
  work: Look<CatchUpRow>,
  lines: ReadonlyMap<string, Line>,
): Result[] {
  const longest = new Map<string, number>();
  for (const { row, togetherMs, slots } of lines.values())
    if (row.state === "active" && row.fires > 0 && slots.all > 0)
      longest.set(row.class, Math.max(togetherMs, longest.get(row.class) ?? 0));
  if (longest.size === 0) return [];
  const said = [...longest].map(([name, ms]) => `${name} ${formatDuration(ms)}`).join(", ");
  return [
    result(clusterScope(context), "pass", `after a stop everything is caught up within, by class: ${said}`, [
      queryEvidence(context, work),
    ]),
  ];
}
