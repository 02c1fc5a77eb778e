/**
 * A cluster that never was: a thousand days of fires, most of them well, some
 * with a fault that was planted. Rows are made from the oracle's own calendar;
 * the product's evaluator is not asked.
 */
import { clockChanges, firesByMinute, type OracleSchedule } from "./calendar.ts";
import type { Random } from "./random.ts";

export const second = 1_000;
export const minute = 60 * second;
export const hour = 60 * minute;
export const day = 24 * hour;
export const lookAhead = 120 * second;

export interface Row {
  readonly fire: number;
  /** When the row appears; infinity: never. */
  planned: number;
  opened: number;
  started: number;
  ended: number;
  final: "success" | "failed" | "missed" | "cancelled";
  misfire: boolean;
}

export interface Version {
  readonly from: number;
  readonly schedule: OracleSchedule;
  /** Every fire by this version, in force or not. */
  readonly fires: readonly number[];
}

export interface SimulatedJob {
  readonly jobId: number;
  readonly name: string;
  readonly usualMs: number;
  readonly skipsLate: boolean;
  readonly versions: Version[];
  readonly pauses: { readonly from: number; readonly to: number }[];
  /** By fire time: what is expected, whether it has a row or not. */
  rows: Row[];
}

export interface Stretch {
  readonly from: number;
  readonly to: number;
}

export interface Skew extends Stretch {
  readonly node: string;
  readonly part: "scheduler" | "executor";
  readonly offsetMs: number;
}

/** Trouble that is seen in what hosts say of themselves. */
export interface HostFault extends Stretch {
  readonly kind: "two-addresses" | "no-address" | "disk-full" | "disk-silent" | "unsynchronised";
}

export interface History {
  readonly from: number;
  readonly to: number;
  readonly jobs: readonly SimulatedJob[];
  /** Both schedulers are gone. */
  readonly leaderless: readonly Stretch[];
  /** All executors are gone. */
  readonly idle: readonly Stretch[];
  readonly skews: readonly Skew[];
  readonly hostFaults: readonly HostFault[];
  readonly watchmanRestarts: readonly number[];
  /** Where it is worth looking every half minute. */
  readonly interesting: Stretch[];
}

const zones = ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Santiago"] as const;
type Policies = Pick<OracleSchedule, "gap" | "overlap">;

/** [cron, usual duration, late fires are skipped] for each zone. */
const kinds: readonly (readonly [string, number, boolean])[] = [
  ["30 2 * * *", 20 * minute, false],
  ["20 * * * *", 38 * minute, false],
  ["*/10 * * * *", 2 * minute, true],
  ["30 0 * * 1-5", 50 * minute, false],
  ["15 0,1,2,3 1,15 * *", 5 * minute, false],
];
const otherCrons = ["45 1 * * *", "5,35 * * * *", "0 3 * * *", "10 0 * * *"];

export function makeHistory(random: Random, from: number, days: number): History {
  const to = from + days * day;
  const policies: Policies[] = [
    { gap: "run-at-transition", overlap: "first" },
    { gap: "skip", overlap: "second" },
    { gap: "run-at-transition", overlap: "both" },
  ];
  const leaderless: Stretch[] = [];
  const idle: Stretch[] = [];
  const skews: Skew[] = [];
  const interesting: Stretch[] = [];
  const restarts: number[] = [];
  for (let at = from + 2 * day; at < to - 3 * day; at += random.between(4, 12) * day) {
    const start = Math.floor(at / second) * second + Math.floor(random.between(0, 86_000)) * second;
    const faults = [leaderless, idle, null, null] as const;
    const long = random.chance(0.3) ? random.between(1, 5) * hour : random.between(2, 40) * minute;
    const stretch = { from: start, to: start + Math.floor(long) };
    const kind = random.pick(faults);
    if (kind) {
      kind.push(stretch);
      interesting.push({ from: start - 5 * minute, to: Math.min(stretch.to, start + 20 * minute) + minute });
      interesting.push({ from: stretch.to - minute, to: stretch.to + 15 * minute });
    } else if (random.chance(0.5)) {
      restarts.push(start);
    } else {
      const offsetMs = random.pick([-300_000, 300_000, 5_000, -450, 250, 60]);
      const [node, part] = random.pick([
        ["sched-a", "scheduler"],
        ["exec-1", "executor"],
      ] as const);
      skews.push({ from: start, to: start + Math.floor(random.between(1, 48)) * hour, node, part, offsetMs });
      interesting.push({ from: start - 2 * minute, to: start + 3 * minute });
    }
  }
  const hostFaults = plantHostFaults(random, from, to, interesting);
  let jobId = 0;
  const jobs = zones.flatMap((zone, z) => {
    for (const change of clockChanges(zone, from, to))
      interesting.push({ from: change.at - hour, to: change.at + 3 * hour });
    return kinds.map(([cron, usualMs, skipsLate], k) => {
      jobId += 1;
      const policy = policies[(z + k) % policies.length]!;
      const job: SimulatedJob = {
        jobId,
        name: `sim/${zone.split("/")[1]}-${k}`,
        usualMs,
        skipsLate,
        versions: [],
        pauses: [],
        rows: [],
      };
      const schedule = { cron, zone, ...policy };
      const reach = [from - 40 * day, to + 40 * day] as const;
      job.versions.push({ from: from - 30 * day, schedule, fires: firesByMinute(schedule, ...reach) });
      editSometimes(random, job, schedule, from, to, interesting);
      if (random.chance(0.5)) {
        const start = from + Math.floor(random.between(30, days - 60) * day) + 17 * second + 345;
        job.pauses.push({ from: start, to: start + Math.floor(random.between(0.2, 12) * day) });
        interesting.push({ from: start - minute, to: start + 30 * minute });
        interesting.push({ from: job.pauses[0]!.to - minute, to: job.pauses[0]!.to + 2 * hour });
      }
      return job;
    });
  });
  const history = {
    from,
    to,
    jobs,
    leaderless,
    idle,
    skews,
    hostFaults,
    watchmanRestarts: restarts,
    interesting,
  };
  for (const job of jobs) run(random, history, job);
  return history;
}

function plantHostFaults(random: Random, from: number, to: number, interesting: Stretch[]): HostFault[] {
  const faults: HostFault[] = [];
  const kinds = ["two-addresses", "no-address", "disk-full", "disk-silent", "unsynchronised"] as const;
  for (let at = from + 3 * day; at < to - 3 * day; at += random.between(5, 20) * day) {
    const start = Math.floor(at / second) * second + Math.floor(random.between(0, 86_000)) * second;
    const end = start + Math.floor(random.between(0.3, 90) * minute);
    faults.push({ from: start, to: end, kind: random.pick(kinds) });
    interesting.push({ from: start - 3 * minute, to: end + 3 * minute });
  }
  return faults;
}

function editSometimes(
  random: Random,
  job: SimulatedJob,
  schedule: OracleSchedule,
  from: number,
  to: number,
  interesting: Stretch[],
): void {
  if (!random.chance(0.5)) return;
  const changes = clockChanges(schedule.zone, from + 10 * day, to - 10 * day);
  // Some edits fall into the very night of a change.
  const at = random.chance(0.5)
    ? random.pick(changes).at + random.between(-2, 2) * hour
    : random.between(from + 10 * day, to - 10 * day);
  const edit = Math.floor(at) + 0.5 > at ? Math.floor(at) : Math.ceil(at);
  const after = { ...schedule, cron: random.pick(otherCrons) };
  job.versions.push({
    from: edit,
    schedule: after,
    fires: firesByMinute(after, from - 40 * day, to + 40 * day),
  });
  interesting.push({ from: edit - minute, to: edit + 3 * hour });
}

/** What each version expects while it is in force, pauses left out. */
export function expectedOf(job: SimulatedJob, from: number, to: number): number[] {
  const all = job.versions.flatMap((version, i) => {
    const until = job.versions[i + 1]?.from ?? Number.POSITIVE_INFINITY;
    return version.fires.filter((fire) => fire > version.from && fire <= until && fire > from && fire <= to);
  });
  return all.filter((fire) => !job.pauses.some((pause) => fire > pause.from && fire <= pause.to));
}

function run(random: Random, history: History, job: SimulatedJob): void {
  job.rows = expectedOf(job, history.from - 30 * day, history.to).map((fire) => {
    const noLeader = history.leaderless.find((s) => fire > s.from + lookAhead && fire <= s.to);
    const planned = noLeader ? noLeader.to + second : fire - lookAhead;
    const opened = Math.max(planned, fire) + Math.floor(random.between(20, 900));
    const row: Row = {
      fire,
      planned,
      opened,
      started: opened,
      ended: 0,
      final: "success",
      misfire: noLeader !== undefined,
    };
    if (noLeader && (job.skipsLate || noLeader.to - fire > 4 * hour)) {
      // Entered as missed in the statement that plans it.
      Object.assign(row, {
        final: "missed",
        opened: Number.POSITIVE_INFINITY,
        started: Number.POSITIVE_INFINITY,
        ended: planned,
      });
      return row;
    }
    const noExecutor = history.idle.find((s) => opened > s.from && opened <= s.to);
    row.started = noExecutor
      ? noExecutor.to + Math.floor(random.between(second, 20 * second))
      : opened + Math.floor(random.between(5, 3 * second));
    // A busy cluster starts late, a restarted executor puts its work back: both are in bounds.
    if (random.chance(0.01)) row.started += Math.floor(random.between(minute, 4.5 * minute));
    row.ended = row.started + Math.floor(job.usualMs * random.between(0.8, 1.1));
    if (random.chance(0.01)) row.ended += 40 * second;
    return row;
  });
  plantFaults(random, history, job);
}

/** Lost, failed, late and never-ending fires, each with room around it. */
function plantFaults(random: Random, history: History, job: SimulatedJob): void {
  const { interesting } = history;
  const changes = clockChanges(job.versions[0]!.schedule.zone, history.from + day, history.to - 2 * day);
  const spots = changes.filter(() => random.chance(0.25)).map(({ at }) => at + random.between(-3, 3) * hour);
  for (let n = 0; n < 4; n += 1) spots.push(random.between(history.from + 3 * day, history.to - 3 * day));
  for (const spot of spots) {
    const row = job.rows.find(({ fire, final }) => fire >= spot && final === "success");
    if (!row || row.fire > history.to - 2 * day || row.planned > row.fire) continue;
    const kind = random.pick(["lost", "failed", "late", "hung"] as const);
    if (kind === "lost") row.planned = Number.POSITIVE_INFINITY;
    if (kind === "failed") row.final = "failed";
    if (kind === "late") {
      const by = Math.floor(random.between(6, 30) * minute);
      row.started += by;
      row.ended += by;
    }
    if (kind === "hung") row.ended = row.started + Math.floor(random.between(3, 30) * hour);
    interesting.push({ from: row.fire - minute, to: row.fire + 8 * minute });
    interesting.push({ from: row.ended - 2 * minute, to: row.ended + 4 * minute });
  }
}
