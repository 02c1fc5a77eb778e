/** Item 14: on the busiest day a job is over before it fires again. */
import { formatDuration } from "../../base/duration.ts";
import { type DurationRow, readDurations } from "../../store/checklist/durations.ts";
import type { Look } from "../../store/checklist/look.ts";
import type { CheckContext } from "../context.ts";
import type { ChecklistItem, Evidence, Result } from "../item.ts";
import { noJobs, type Pair, pairs } from "./job-files.ts";
import { databaseNow, inParts, openStore } from "./parts.ts";
import { type Gap, shortestGap } from "./shortest-gap.ts";
import { answersAbout, computed, queryEvidence } from "./verdicts.ts";

/** Above this part of the gap the next growth of the data is too much. */
const nearShare = 0.8;

export const peakDuration: ChecklistItem<CheckContext> = {
  number: 14,
  id: "peak-duration",
  question: "Does every job end before its next fire on month ends and other peak days, too?",
  why: "An average says nothing about the last day of the quarter. A run that is longer than its period takes the next fire with it.",
  how: "The longest success on record of every job, reruns and runs during a drill left out, against the shortest gap between its fires in the year ahead, nights on which the clock is changed included. Records without a month end show no peak.",
  check: (context) => inParts(context, { "durations on record": () => peaks(context) }),
};

async function peaks(context: CheckContext): Promise<Result[]> {
  if (context.definitions.jobs.length === 0) return [noJobs(context)];
  const now = await databaseNow(context);
  // Peaks come once a month, a quarter, a year: the window of the report is too short for them.
  const from = new Date(Date.UTC(now.getUTCFullYear() - 1, now.getUTCMonth() - 1, 1));
  const durations = await readDurations(openStore(context), from);
  const rows = new Map(durations.rows.map((row) => [row.jobId, row]));
  return (await pairs(context)).pairs.map((pair) =>
    peakOf(context, pair, pair.applied && rows.get(pair.applied.jobId), durations, now),
  );
}

function peakOf(
  context: CheckContext,
  pair: Pair,
  row: DurationRow | undefined,
  durations: Look<DurationRow>,
  now: Date,
): Result {
  const { job, applied, name } = pair;
  const answer = answersAbout(job);
  const gap = shortestGap(applied?.fires ?? job.definition, now);
  if (!gap) return answer("not-applicable", "only people run it, or it fires once", [pair.evidence]);
  const shortest = formatDuration(gap.gapMs);
  const evidence = [queryEvidence(context, durations, row ? [row] : []), gapEvidence(context, gap)];
  if (!applied)
    return answer("unknown", `${name} is in a file and not in the store`, evidence, "escapement jobs apply");
  if (!row) return answer("unknown", "it has no success on record", evidence, "let it run, then look again");
  const longest = formatDuration(row.maxMs);
  const when = row.maxAt.toISOString();
  if (row.maxMs > gap.gapMs) {
    const message = `it took ${longest} at ${when}, longer than the ${shortest} to its next fire`;
    return answer(
      "fail",
      message,
      evidence,
      "more shards, more slots, or a longer period: escapement capacity peak",
    );
  }
  if (row.monthEnds === 0) {
    const message = `no month end is on record since ${row.first.toISOString().slice(0, 10)}; the longest of ${row.count} run(s) took ${longest}, the gap is ${shortest}`;
    return answer("unknown", message, evidence, "look again after a month end");
  }
  const near = row.maxMs > nearShare * gap.gapMs ? ", which is near" : "";
  const usual = formatDuration(Math.round(row.p99Ms));
  return answer(
    "pass",
    `at most ${longest} (${when}), usually ${usual}; the shortest gap is ${shortest}${near}; ${row.monthEnds} month end(s) on record since ${row.first.toISOString().slice(0, 10)}`,
    evidence,
  );
}

function gapEvidence(context: CheckContext, gap: Gap): Evidence {
  return computed(
    context,
    "the shortest gap between two fires in the year ahead",
    `${formatDuration(gap.gapMs)}, before ${gap.at.toISOString()}`,
  );
}
