/** How much disk the record store needs: simulated records, log, archive, temporary room, and what to order. */
import { type Answer, type Figure, figure } from "../figure.ts";
import { decimalBytes } from "../format.ts";
import { type PageFit, pageFit } from "./page-fit.ts";
import { checkQuestion, type StorageQuestion } from "./question.ts";
import { shardTupleBytes } from "./record-rows.ts";
import { type RecordShapes, recordShapes } from "./record-shape.ts";
import { type RuleEstimate, ruleEstimate } from "./rule-estimate.ts";
import { type Simulated, simulateSample, textBytes } from "./sample.ts";

export interface StorageAnswer extends Answer {
  readonly rule: RuleEstimate;
  /** Why the two estimates differ, in sentences. */
  readonly differences: readonly string[];
  /** Bytes kept at the end of each month from the first, until the retention is full. */
  readonly overTime: readonly { readonly month: number; readonly bytes: number }[];
}

const day = 86_400_000;
const daysPerMonth = 365.25 / 12;
/** A disk is planned to be at most this full. */
export const plannedFill = 0.75;

/** @throws E_BAD_VALUE for input without sense */
export function estimateStorage(
  question: StorageQuestion,
  shapes: RecordShapes = recordShapes,
): StorageAnswer {
  checkQuestion(question);
  const { runsPerDay, shards, retryShare } = question;
  const text = textBytes(question, shapes);
  const simulated = simulateSample(question, text.inRow, shapes);
  const shardsPerDay = runsPerDay * shards;
  const inputs = { runsPerDay, shards, rowBytes: question.rowBytes, retryShare };

  const heapPerShard = simulated.heap + text.outOfRow;
  const indexPerShard = simulated.index + text.outOfRowIndex;
  const perDay = shardsPerDay * (heapPerShard + indexPerShard);
  const overTime = keptOverTime(perDay, question);
  const kept = overTime.at(-1)!.bytes;
  const lastMonth = kept - (overTime.at(-2)?.bytes ?? 0);
  const walPerDay = shardsPerDay * (simulated.wal + text.outOfRow + text.outOfRowIndex);
  const peakCheckpoint =
    (walPerDay * question.busiestShare * question.checkpointMs) /
    Math.max(question.busiestMs, question.checkpointMs);
  const maxWal = Math.max(2 ** 30, 2 * peakCheckpoint);
  const standby = (walPerDay * question.standbyAwayMs) / day;
  const temp = lastMonth * (indexPerShard / (heapPerShard + indexPerShard)) + 2 ** 30;
  const onDisk = kept + simulated.live + maxWal + standby + temp;
  const needed = onDisk / plannedFill;
  const archive = walPerDay * question.archiveDays + 2 * kept;
  const fit = pageFit(shardTupleBytes(shapes.shard, text.inRow));
  const rule = ruleEstimate(runsPerDay, shards, question.rowBytes);

  const figures: Record<string, Figure> = {
    shardsPerDay: figure(
      "shard records a day",
      shardsPerDay,
      "rows/day",
      `${runsPerDay} executions × ${shards} shards`,
      inputs,
      "arithmetic",
    ),
    recordBytes: figure(
      "bytes of a finished record",
      fit.tupleBytes,
      "bytes/row",
      "row header, null bitmap and columns in order, aligned",
      { rowBytes: question.rowBytes },
      "postgres.tuple",
    ),
    rowsPerPage: figure(
      "finished records on a page",
      fit.rowsPerPage,
      "count",
      "⌊(8192 − 24) ÷ (record, rounded up to 8, + 4)⌋",
      { recordBytes: fit.tupleBytes },
      "postgres.page",
    ),
    heapPerRow: figure(
      "table bytes a shard",
      heapPerShard,
      "bytes/row",
      `simulated: execution, shard and attempt tables ÷ shards; a finished record alone fills ${fit.bytesPerRow.toFixed(0)} (${fit.rowsPerPage} to a page)`,
      { ...inputs, batch: question.batch },
      "postgres.heap-simulation",
    ),
    indexPerRow: figure(
      "index bytes a shard",
      indexPerShard,
      "bytes/row",
      "simulated: primary keys of the same tables ÷ shards",
      { ...inputs, batch: question.batch },
      "postgres.btree",
    ),
    bloat: figure(
      "table over finished records packed tight",
      simulated.bloat,
      "ratio",
      "shard table ÷ (finished records × bytes of a packed one)",
      inputs,
      "postgres.heap-simulation",
    ),
    inPlace: figure(
      "updates that leave the index alone",
      simulated.hotShare,
      "share",
      "updates that found room on their own page",
      inputs,
      "postgres.heap-simulation",
    ),
    perDay: figure(
      "growth a day",
      perDay,
      "bytes/day",
      "shards × (table + index bytes)",
      { shardsPerDay, heapPerShard, indexPerShard },
      "arithmetic",
    ),
    perYear: figure(
      "growth a year",
      perDay * 365.25,
      "bytes",
      "growth a day × 365.25",
      { perDay },
      "arithmetic",
    ),
    kept: figure(
      "records kept",
      kept,
      "bytes",
      `${question.retentionMonths} whole months and the one in progress, growing ${percent(question.growthPerYear)} a year`,
      { perDay, retentionMonths: question.retentionMonths, growthPerYear: question.growthPerYear },
      "rule.retention",
    ),
    live: figure(
      "live tables",
      simulated.live,
      "bytes",
      "largest size between two vacuums",
      { batch: question.batch },
      "postgres.heap-simulation",
    ),
    walPerDay: figure(
      "log written a day",
      walPerDay,
      "bytes/day",
      `shards × ${Math.round(simulated.wal)} bytes, ${percent(simulated.imageShare)} of it full pages after checkpoints`,
      { shardsPerDay, checkpointMs: question.checkpointMs },
      "postgres.wal",
    ),
    walWithLongCheckpoints: figure(
      "log a day with checkpoints each 30 minutes",
      shardsPerDay * simulated.walLong,
      "bytes/day",
      "the same with checkpoint_timeout = 30min",
      { shardsPerDay, checkpointMs: 1_800_000 },
      "postgres.wal",
    ),
    maxWal: figure(
      "max_wal_size",
      maxWal,
      "bytes",
      "2 × log between checkpoints in the busiest window, at least 1 GiB",
      { walPerDay, busiestShare: question.busiestShare, busiestMs: question.busiestMs },
      "arithmetic",
    ),
    standby: figure(
      "log kept for a standby",
      standby,
      "bytes",
      "log a day × days the standby may be away",
      { walPerDay, standbyAwayMs: question.standbyAwayMs },
      "arithmetic",
    ),
    temp: figure(
      "temporary room",
      temp,
      "bytes",
      "index of the largest month, built anew, + 1 GiB for sorts",
      { lastMonth },
      "assumption.temp",
    ),
    onDisk: figure(
      "on disk",
      onDisk,
      "bytes",
      "records + live tables + max_wal_size + log for a standby + temporary room",
      { kept, maxWal, standby, temp },
      "arithmetic",
    ),
    needed: figure(
      "disk to order, usable",
      needed,
      "bytes",
      `on disk ÷ ${plannedFill}`,
      { onDisk, plannedFill },
      "rule.disk-fill",
    ),
    archive: figure(
      "archive, on another machine",
      archive,
      "bytes",
      `${question.archiveDays} days of log + 2 base backups`,
      { walPerDay, archiveDays: question.archiveDays, kept },
      "arithmetic",
    ),
  };
  return {
    figures,
    rule,
    overTime,
    differences: differencesOf(figures, rule, question),
    binding: bindingOf({ records: kept, log: maxWal + standby, temporary: temp, live: simulated.live }),
    notes: notesOf(question, fit, text.isOut, simulated),
  };
}

/** Month by month until the oldest is dropped. */
function keptOverTime(
  perDay: number,
  { retentionMonths, growthPerYear }: StorageQuestion,
): { month: number; bytes: number }[] {
  const monthly = Array.from(
    { length: retentionMonths + 1 },
    (_, month) => perDay * daysPerMonth * (1 + growthPerYear) ** (month / 12),
  );
  let bytes = 0;
  return monthly.map((add, i) => {
    bytes += add;
    return { month: i + 1, bytes };
  });
}

function differencesOf(
  figures: Record<string, Figure>,
  rule: RuleEstimate,
  question: StorageQuestion,
): string[] {
  const ratio = figures.perDay!.value / rule.perDay.value;
  const gigabytes = (bytes: number) => `${(bytes / 1e9).toFixed(bytes < 1e10 ? 1 : 0)} GB`;
  return [
    `Table and index take ${ratio.toFixed(2)} × the bytes counted on paper, not 2 to 3 ×: a row's header and its share of a page are small beside ${question.rowBytes} bytes, and there is one index.`,
    `The log of a year is ${gigabytes(figures.walPerDay!.value * 365.25)}, but it is recycled: ${gigabytes(figures.maxWal!.value + figures.standby!.value)} of it lie on this disk at a time, ${gigabytes(figures.walPerDay!.value * question.archiveDays)} in the archive.`,
    `Records are kept ${question.retentionMonths} months and the one in progress, not 12; months are dropped whole, so deleting leaves no holes.`,
    `The paper's reserve for a year is ${gigabytes(rule.withIndexAndLogLow.value)} to ${gigabytes(rule.withIndexAndLogHigh.value)}; the disk to order here is ${gigabytes(figures.needed!.value)}, a quarter of it left free on purpose.`,
  ];
}

function bindingOf(parts: Record<string, number>): Answer["binding"] {
  const sorted = Object.entries(parts).sort((a, b) => b[1] - a[1]);
  const total = sorted.reduce((sum, [, bytes]) => sum + bytes, 0);
  const [name, bytes] = sorted[0]!;
  return {
    constraint: name,
    why: `${percent(bytes / total)} of what lies on the disk`,
    limits: sorted.map(([part, size]) => ({
      name: part,
      allows: decimalBytes(size),
      formula: `${percent(size / total)} of the disk`,
    })),
  };
}

function notesOf(question: StorageQuestion, fit: PageFit, isOut: boolean, simulated: Simulated): string[] {
  const notes: string[] = [];
  if (isOut)
    notes.push("Records this wide keep their text in a side table, counted as if it did not compress.");
  else if (fit.trim.bytes > 0 && fit.trim.bytes <= 64 && fit.trim.saves > 0.04) {
    notes.push(
      `${fit.trim.bytes} bytes less a record would let ${fit.rowsPerPage + 1} in place of ${fit.rowsPerPage} share a page: ${percent(fit.trim.saves)} less table.`,
    );
  }
  if (simulated.walLong < simulated.wal * 0.8) {
    notes.push(
      `Checkpoints each 30 minutes would write ${percent(1 - simulated.walLong / simulated.wal)} less log; recovery after a crash takes longer.`,
    );
  }
  if (question.retentionMonths < 12)
    notes.push("Less than 12 months of records will not cover a year-end audit.");
  notes.push("Text output of jobs is not in here: it belongs into a log system, 5 to 10 times the records.");
  return notes;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(share !== 0 && Math.abs(share) < 0.1 ? 1 : 0)} %`;
}
