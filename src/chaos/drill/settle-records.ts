/**
 * After the restore: the probes go on for a while, so that new fires are seen to
 * work, too; then they are stopped, drain, and the records are read when reads
 * agree. Work that nothing moves any more counts as at rest, too: it is stuck,
 * and the judgement says so.
 */
import { isEscapementError } from "../../base/errors.ts";
import { monotonicMs, sleep } from "../../base/monotonic.ts";
import type { SettleRules } from "../../spec/drill-definition.ts";
import type { Database } from "../../store/database.ts";
import { type DrillRecords, readDrillRecords, unfinishedWork } from "../../store/drill/drill-records.ts";

export interface RestQuestion {
  readonly db: Database;
  readonly jobIds: readonly number[];
  readonly since: Date;
  readonly settle: SettleRules;
  /** Without any change for this long, unfinished work is stuck. */
  readonly stuckAfterMs: number;
  /** True while a probe's process is connected to the witness. */
  readonly busy: () => boolean;
  /** Measured from the restore by our monotonic clock. */
  readonly restoredMs: number;
}

export interface Rest {
  readonly records: DrillRecords;
  /** False: the deadline came first. */
  readonly settled: boolean;
  /** Executions that were not finished. */
  readonly stuck: number;
}

/** Reads until the records are at rest. @throws what the store throws, if that lasts */
export async function awaitRest(question: RestQuestion): Promise<Rest> {
  const { db, jobIds, since, settle, busy } = question;
  const deadline = question.restoredMs + settle.deadlineMs;
  const read = () => readDrillRecords(db, jobIds, since, null);
  let records = await whileAway(read, deadline);
  let equal = 1;
  let unchangedSince = monotonicMs();
  for (;;) {
    await sleep(settle.readEveryMs);
    const again = await whileAway(read, deadline);
    const same = fingerprint(again) === fingerprint(records);
    records = again;
    equal = same ? equal + 1 : 1;
    if (!same) unchangedSince = monotonicMs();
    const left = await whileAway(() => unfinishedWork(db, jobIds), deadline);
    const stuck = left.executions;
    if (equal >= settle.quietReads && left.executions + left.shards === 0 && !busy())
      return { records, settled: true, stuck: 0 };
    if (monotonicMs() - unchangedSince >= question.stuckAfterMs && !busy())
      return { records, settled: true, stuck };
    if (monotonicMs() > deadline) return { records, settled: false, stuck };
  }
}

/** Asks again while the store does not answer. */
export async function whileAway<T>(ask: () => Promise<T>, deadline: number): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      const away = isEscapementError(error) && error.code === "E_STORE_UNAVAILABLE";
      if (!away || monotonicMs() > deadline) throw error;
      await sleep(500);
    }
  }
}

function fingerprint({ executions, attempts }: DrillRecords): string {
  const statuses = executions.map(({ status }) => status).join();
  return `${statuses} ${attempts.length} ${attempts.filter(({ status }) => status === "success").length}`;
}
