/**
 * How long catch-up takes after a stop in which everything was missed, by usual
 * durations: of one job alone, and of all jobs of its class in one line.
 *
 *   slots   what the share leaves of the slots of the class, at least one
 *   work    of an execution: its duration × the slots that it keeps busy (shards, at most all slots)
 *   alone   fires × duration × how much slower it is on those slots alone
 *   line    what may be ahead of it: of every other job the work of as many executions as it has
 *           fires itself, at most that job's own fires; of one that allows executions side by side all of them
 *   together = alone + line / slots
 *
 * The shards of a class are claimed in the order in which their executions were
 * opened, and a job that does not allow executions side by side has one open at a
 * time: so nobody can be ahead twice between two executions of a job.
 */

/** What one job may have to catch up. */
export interface CatchUpWork {
  /** Fires that may be caught up. */
  readonly fires: number;
  /** All of them may be open at once (blocking policy `allow`). */
  readonly sideBySide: boolean;
  /** Of one execution. */
  readonly shards: number;
  /** Of one execution with all slots at hand. */
  readonly durationMs: number;
}

/** Slots of one class. */
export interface ClassSlots {
  /** Of all executors that live. */
  readonly all: number;
  /** What catch-up may use of them. */
  readonly free: number;
}

/** @param share the part of the slots that catch-up may use; as the function `claim` counts it */
export function classSlots(all: number, share: number): ClassSlots {
  return { all, free: Math.max(1, Math.floor(share * all)) };
}

/** By how much one execution takes longer on the slots that catch-up may use. */
export function slowness({ shards }: Pick<CatchUpWork, "shards">, { all, free }: ClassSlots): number {
  return busy(shards, all) / Math.min(shards, free);
}

/** How long one job's catch-up takes, in milliseconds, when no other job has any. */
export function aloneMs(work: CatchUpWork, slots: ClassSlots): number {
  return Math.ceil(work.fires * work.durationMs * slowness(work, slots));
}

/** What may be ahead of a job, in milliseconds of one slot. @param others of the same class, without itself */
export function lineMs(fires: number, others: readonly CatchUpWork[], { all }: ClassSlots): number {
  const ahead = (other: CatchUpWork) => (other.sideBySide ? other.fires : Math.min(fires, other.fires));
  return Math.ceil(sum(others.map((other) => ahead(other) * other.durationMs * busy(other.shards, all))));
}

function busy(shards: number, all: number): number {
  return Math.min(shards, Math.max(1, all));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((a, b) => a + b, 0);
}
