/**
 * What a watchman must say and may say about a history, worked out from the
 * planted facts alone: for each rule and job, the stretches of time in which it
 * is true. Written apart from the product; it shares the words of the rules only.
 */
import {
  day,
  type History,
  hour,
  minute,
  type Row,
  type SimulatedJob,
  type Stretch,
  second,
} from "./history.ts";

/**
 * `exact`: said at every look in the stretch. `once`: said at some look in its
 * first ten minutes. `may`: right to be said, and right not to be.
 */
export interface Truth extends Stretch {
  readonly rule: string;
  /** Job id, or the name of a process; null for the cluster. */
  readonly about: number | string | null;
  readonly how: "exact" | "once" | "may";
}

const grace = minute;
const lease = 10 * second;

export function truthsOf(history: History): Truth[] {
  const truths: Truth[] = [];
  for (const { from, to } of history.leaderless) {
    truths.push({ rule: "no-leader", about: null, from: from + lease + minute, to, how: "exact" });
    truths.push({ rule: "scheduler-silent", about: "sched-a", from: from + minute, to, how: "exact" });
    truths.push({ rule: "scheduler-silent", about: "sched-b", from: from + minute, to, how: "exact" });
    truths.push({ rule: "records-not-growing", about: null, from, to: to + 10 * minute, how: "may" });
  }
  for (const { from, to } of history.idle) {
    truths.push({ rule: "no-executor", about: null, from: from + lease + minute, to, how: "exact" });
    truths.push({ rule: "executor-silent", about: "exec-1", from: from + lease + minute, to, how: "exact" });
    truths.push({ rule: "records-not-growing", about: null, from, to: to + 10 * minute, how: "may" });
  }
  for (const { from, to, node, offsetMs } of history.skews) {
    if (Math.abs(offsetMs) <= 100) continue;
    const hidden = [...history.leaderless, ...history.idle].some((s) => s.from < to && s.to + minute > from);
    truths.push({ rule: "clock-offset", about: node, from, to, how: hidden ? "may" : "exact" });
  }
  truths.push(...truthsOfHosts(history));
  for (const job of history.jobs) truths.push(...truthsOfJob(history, job));
  return truths;
}

/** How long each must last, and which outage hides it because nobody is there to say it. */
function truthsOfHosts(history: History): Truth[] {
  const said = {
    "two-addresses": ["two-virtual-address-holders", 0, history.leaderless],
    "no-address": ["no-virtual-address-holder", minute, history.leaderless],
    "disk-full": ["store-disk", 0, []],
    "disk-silent": ["store-disk", 5 * minute, []],
    unsynchronised: ["time-source", 0, history.idle],
  } as const;
  return history.hostFaults.flatMap(({ kind, from, to }): Truth[] => {
    const [rule, after, outages] = said[kind];
    if (from + after >= to) return [];
    const hidden = outages.some((s) => s.from < to && s.to + 2 * minute > from);
    return [{ rule, about: null, from: from + after, to, how: hidden ? "may" : "exact" }];
  });
}

function truthsOfJob(history: History, job: SimulatedJob): Truth[] {
  const about = job.jobId;
  const truths: Truth[] = [];
  const say = (rule: string, from: number, to: number, how: Truth["how"] = "exact") => {
    if (to > from) truths.push({ rule, about, from, to, how });
  };
  for (const row of job.rows) {
    if (row.planned === Number.POSITIVE_INFINITY) {
      say("fire-gap", row.fire + minute, row.fire + 10 * minute, "once");
      say("fire-gap", row.fire + minute, row.fire + 3 * day + minute, "may");
      continue;
    }
    const openBy = row.final === "missed" ? row.planned : row.opened;
    if (openBy - row.fire > minute) {
      say("not-opened", row.fire + minute, Math.min(row.fire + 10 * minute, openBy), "once");
      say("not-opened", row.fire + minute, openBy, "may");
    }
    if (row.final === "missed") continue;
    say("late-start", Math.max(row.opened, row.fire + 5 * minute), row.started);
    if (row.started - row.fire > 5 * minute) say("late-start", row.started, row.ended);
    if (row.final === "failed") say("retry-exhausted", row.ended, row.ended + 3 * day);
  }
  for (const [i, version] of job.versions.entries()) {
    if (i === 0) continue;
    say("schedule-edited", version.from, version.from + hour);
    // A run that fitted the old schedule may fill the new period.
    if (job.usualMs * 1.1 > 0.7 * shortestGap(version.fires))
      say("long-duration", version.from, history.to, "may");
  }
  for (const stretch of overdue(history, job)) say("missing-success", stretch.from, stretch.to);
  return truths;
}

function shortestGap(fires: readonly number[]): number {
  let shortest = Number.POSITIVE_INFINITY;
  for (let i = 1; i < fires.length; i += 1) shortest = Math.min(shortest, fires[i]! - fires[i - 1]!);
  return shortest;
}

/** When the oldest fire after the newest success is later than half its period and the grace, and not healthily under way. */
function overdue(history: History, job: SimulatedJob): Stretch[] {
  const ends = job.rows
    .filter(({ final, planned }) => final === "success" && planned !== Number.POSITIVE_INFINITY)
    .sort((a, b) => a.ended - b.ended);
  const found: Stretch[] = [];
  let newest = history.from - 30 * day;
  let owedIndex = 0;
  for (let i = 0; i <= ends.length; i += 1) {
    const from = i === 0 ? history.from - 30 * day : ends[i - 1]!.ended;
    if (i > 0) newest = Math.max(newest, ends[i - 1]!.fire);
    const to = ends[i]?.ended ?? history.to;
    while (owedIndex < job.rows.length && job.rows[owedIndex]!.fire <= newest) owedIndex += 1;
    const owed = job.rows[owedIndex];
    if (owed) found.push(...overdueOf(job, owed, from, to));
  }
  return found.flatMap((stretch) => withoutPauses(job, stretch));
}

function overdueOf(job: SimulatedJob, owed: Row, from: number, to: number): Stretch[] {
  const base = owed.fire + periodAt(job, owed.fire) / 2 + grace;
  const exists = owed.planned !== Number.POSITIVE_INFINITY && owed.started !== Number.POSITIVE_INFINITY;
  if (!exists) return clip({ from: base, to }, from, to);
  const whileRunning = Math.max(base, owed.started + job.usualMs * 1.1 * 1.5 + grace);
  return [
    ...clip({ from: base, to: owed.started }, from, to),
    ...clip({ from: Math.max(whileRunning, owed.started), to: owed.ended }, from, to),
    ...clip({ from: Math.max(base, owed.ended), to }, from, to),
  ];
}

function clip(stretch: Stretch, from: number, to: number): Stretch[] {
  const cut = { from: Math.max(stretch.from, from), to: Math.min(stretch.to, to) };
  return cut.to > cut.from ? [cut] : [];
}

function withoutPauses(job: SimulatedJob, stretch: Stretch): Stretch[] {
  let left = [stretch];
  for (const pause of job.pauses)
    left = left.flatMap((s) => [
      ...clip({ from: s.from, to: pause.from }, s.from, s.to),
      ...clip({ from: pause.to, to: s.to }, s.from, s.to),
    ]);
  return left;
}

/** The shorter gap to a neighbour, by the version in force at the fire. */
function periodAt(job: SimulatedJob, fire: number): number {
  const { fires } = job.versions.findLast(({ from }) => from < fire)!;
  const at = lowerBound(fires, fire);
  const before = fires[at - 1] ?? Number.NEGATIVE_INFINITY;
  const after = fires[fires[at] === fire ? at + 1 : at] ?? Number.POSITIVE_INFINITY;
  return Math.min(fire - before, after - fire);
}

export function lowerBound(sorted: readonly number[], value: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
