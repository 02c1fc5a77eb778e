/** What the record store asks of its disk in the busiest minutes, and what the disk can give. */
import { EscapementError } from "../../base/errors.ts";
import { type Answer, type Binding, type Figure, figure } from "../figure.ts";
import { commitsPerFlush } from "./group-commit.ts";
import { type DiskLayout, fewestDisks, type Medium, writePenalty } from "./media.ts";

export interface IopsQuestion {
  readonly runsPerDay: number;
  readonly shards: number;
  /** Shards claimed, and completed, in one transaction. */
  readonly batch: number;
  readonly busiestShare: number;
  readonly busiestMs: number;
  /** Executors that commit at a time. */
  readonly sessions: number;
  /** Log bytes of one shard, from the storage calculator. */
  readonly walPerShard: number;
  /** Table and index bytes of one shard, from the storage calculator. */
  readonly bytesPerShard: number;
  readonly medium: Medium;
  readonly layout: DiskLayout;
  readonly disks: number;
  /** True when `medium` was measured on this machine. */
  readonly isMeasured: boolean;
}

/** The write transactions a small server manages by its processors alone. */
const commitsByCpu = 12_000;
const daySeconds = 86_400;
/** A page is written again a few times between two checkpoints; in the worst case each shard touches pages of its own. */
const pagesPerShard = 4;

/** @throws E_BAD_VALUE for input without sense */
export function estimateIops(question: IopsQuestion): Answer {
  checkQuestion(question);
  const { runsPerDay, shards, batch, busiestShare, busiestMs, sessions, medium, layout, disks } = question;
  const small = runsPerDay * shards;
  const perDay = runsPerDay * (1 + 2 * shards);
  const batched = runsPerDay * (2 + 2 * Math.ceil(shards / batch));
  const busySeconds = busiestMs / 1_000;
  const peak = (perDay * busiestShare) / busySeconds;
  const peakBatched = (batched * busiestShare) / busySeconds;
  const factor = commitsPerFlush(sessions);
  const flushes = peak / factor;
  const canFlush = medium.flushesPerSecond;
  const shardsPerSecond = (small * busiestShare) / busySeconds;
  const logWrites = Math.max(flushes, (shardsPerSecond * question.walPerShard) / 8_192);
  const pages = Math.min(pagesPerShard, question.bytesPerShard / 8_192 + pagesPerShard / batch);
  const pageWrites = shardsPerSecond * pages;
  const penalty = writePenalty[layout];
  const backEnd = (logWrites + pageWrites) * penalty;
  const canWrite = medium.writeIops * disks;
  const source = question.isMeasured ? "measured.here" : "media.class";
  const window = `${percent(busiestShare)} of the day in ${busySeconds} s`;
  const figures: Record<string, Figure> = {
    smallTransactions: figure(
      "small transactions a day",
      small,
      "per day",
      `${shards} shards × ${runsPerDay} executions`,
      { shards, runsPerDay },
      "rule.small-transactions",
    ),
    commitsPerDay: figure(
      "commits a day, each shard alone",
      perDay,
      "per day",
      `${runsPerDay} × (1 + 2 × ${shards})`,
      { runsPerDay, shards },
      "arithmetic",
    ),
    meanCommits: figure(
      "commits a second, mean of the day",
      perDay / daySeconds,
      "per second",
      "commits a day ÷ 86,400",
      { perDay },
      "arithmetic",
    ),
    peakCommits: figure(
      "commits a second, busiest window",
      peak,
      "per second",
      `commits a day × ${window}`,
      { perDay, busiestShare, busiestMs },
      "arithmetic",
    ),
    peakBatched: figure(
      "the same, in batches",
      peakBatched,
      "per second",
      `${runsPerDay} × (2 + 2 × ⌈${shards} ÷ ${batch}⌉), ${window}`,
      { runsPerDay, shards, batch },
      "arithmetic",
    ),
    commitsPerFlush: figure(
      "commits that share a flush",
      factor,
      "ratio",
      `${sessions} executors commit at a time`,
      { sessions },
      "measured.group-commit",
    ),
    flushes: figure(
      "flushes a second needed",
      flushes,
      "per second",
      "peak commits ÷ commits that share a flush",
      { peak, factor },
      "arithmetic",
    ),
    canFlush: figure(
      "flushes a second the disk can do",
      canFlush,
      "per second",
      medium.name,
      { flushesPerSecond: canFlush },
      source,
    ),
    flushHeadroom: figure(
      "headroom in flushes",
      canFlush / flushes,
      "ratio",
      "can do ÷ needed",
      { canFlush, flushes },
      "arithmetic",
    ),
    serialHeadroom: figure(
      "headroom if only one executor commits",
      canFlush / peak,
      "ratio",
      "can do ÷ peak commits: nothing to share a flush with",
      { canFlush, peak },
      "arithmetic",
    ),
    pagesPerShard: figure(
      "pages written for each shard",
      pages,
      "ratio",
      `the smaller of ${pagesPerShard} and table and index bytes ÷ 8192 + ${pagesPerShard} ÷ batch of ${batch}`,
      { bytesPerShard: question.bytesPerShard, batch },
      "arithmetic",
    ),
    writes: figure(
      "writes a second at the drives",
      backEnd,
      "per second",
      `(log ${logWrites.toFixed(0)} + pages ${pageWrites.toFixed(0)}) × ${penalty} for ${layout}`,
      { logWrites, pageWrites, penalty },
      "raid.penalty",
    ),
    canWrite: figure(
      "writes a second the drives can do",
      canWrite,
      "per second",
      `${disks} × ${medium.writeIops}`,
      { disks, writeIops: medium.writeIops },
      source,
    ),
    writeHeadroom: figure(
      "headroom in writes",
      canWrite / backEnd,
      "ratio",
      "can do ÷ needed",
      { canWrite, backEnd },
      "arithmetic",
    ),
    cpuHeadroom: figure(
      "headroom in processor time",
      commitsByCpu / peak,
      "ratio",
      `${commitsByCpu} commits a second on 2 cores ÷ peak commits`,
      { commitsByCpu, peak },
      "assumption.commit-cpu",
    ),
  };
  return { figures, binding: bindingOf(figures), notes: notesOf(question, figures) };
}

function checkQuestion(question: IopsQuestion): void {
  const bad = (option: string, value: number | string, expected: string) => {
    throw new EscapementError("E_BAD_VALUE", {
      option,
      value,
      expected,
      hint: "run with --help to see what it means",
    });
  };
  if (!(question.runsPerDay > 0)) bad("--runs-per-day", question.runsPerDay, "more than 0");
  if (!Number.isInteger(question.shards) || question.shards < 1)
    bad("--shards", question.shards, "a whole number of at least 1");
  if (!Number.isInteger(question.batch) || question.batch < 1)
    bad("--batch", question.batch, "a whole number of at least 1");
  if (!Number.isInteger(question.sessions) || question.sessions < 1)
    bad("--sessions", question.sessions, "a whole number of at least 1");
  if (!(question.busiestShare > 0 && question.busiestShare <= 1))
    bad("--busiest-share", question.busiestShare, "above 0, at most 1");
  if (!(question.busiestMs >= 1_000)) bad("--busiest-within", question.busiestMs, "at least 1s");
  const fewest = fewestDisks[question.layout];
  if (!Number.isInteger(question.disks) || question.disks < fewest) {
    bad("--disks", question.disks, `a whole number of at least ${fewest} for ${question.layout}`);
  }
  if (question.layout === "raid10" && question.disks % 2 === 1)
    bad("--disks", question.disks, "an even number: raid10 holds every drive twice");
}

function bindingOf(figures: Record<string, Figure>): Binding {
  const limits = (["flushHeadroom", "writeHeadroom", "cpuHeadroom"] as const).map((key) => ({
    key,
    figure: figures[key]!,
  }));
  const tightest = limits.reduce((least, one) => (one.figure.value < least.figure.value ? one : least));
  const names = { flushHeadroom: "flushes", writeHeadroom: "writes", cpuHeadroom: "processor" } as const;
  const { value } = tightest.figure;
  return {
    constraint: names[tightest.key],
    why:
      value < 1
        ? `short by a factor of ${(1 / value).toFixed(1)}`
        : `the least headroom, ${value.toFixed(1)} ×`,
    limits: limits.map(({ key, figure: { value: allows, formula } }) => ({
      name: names[key],
      allows: Math.round(allows * 10) / 10,
      formula,
    })),
  };
}

function notesOf({ medium, layout, isMeasured }: IopsQuestion, figures: Record<string, Figure>): string[] {
  const notes: string[] = [];
  const headroom = Math.min(figures.flushHeadroom!.value, figures.writeHeadroom!.value);
  if (headroom < 1)
    notes.push("This disk cannot keep up in the busiest window: claims and completions will queue.");
  else if (headroom < 3) notes.push("Less than 3 × headroom: a slow hour of the disk will be felt.");
  if (figures.serialHeadroom!.value < 1)
    notes.push("With a single executor, which has nobody to share flushes with, the disk would be too slow.");
  if (!medium.powerLossProtection) {
    notes.push(
      isMeasured
        ? "The kernel shows a volatile write cache: unless the drive protects it, a confirmed record may be gone after a power cut."
        : "Without power-loss protection a confirmed record may be gone after a power cut: not for the record store.",
    );
  }
  if (layout === "raid5" || layout === "raid6")
    notes.push(`${layout} costs ${writePenalty[layout]} operations a write; RAID 10 costs 2.`);
  if (layout === "raid0") notes.push("RAID 0 loses everything with one drive: not for the record store.");
  return notes;
}

function percent(share: number): string {
  return `${Math.round(share * 1_000) / 10} %`;
}
