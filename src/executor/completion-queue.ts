/**
 * Writes the ends of attempts, many in one statement. While the store is away
 * they wait; each for as long as its own lease is trusted, or, for a job that
 * continues fenced, until the store has judged it.
 *
 * An answer that was lost leaves open whether the statement was carried out.
 * Before such an outcome is sent again, the records are asked.
 */
import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { sleep } from "../base/monotonic.ts";
import { type AttemptEnd, completeAttempts } from "../store/completion.ts";
import { type Queryable, sqlState } from "../store/database.ts";
import { areOutcomesWritten } from "../store/written-outcome.ts";

/** given-up: the store could not be asked while the lease lasted. */
export type WriteResult = "accepted" | "refused" | "given-up";

interface Entry {
  readonly end: AttemptEnd;
  readonly incarnation: string;
  readonly mayWait: () => boolean;
  readonly settle: (result: WriteResult) => void;
  /** It was sent, and the answer was lost. */
  uncertain: boolean;
  sqlErrors: number;
}

const gatherMs = 4;
const maxBatch = 500;
/** After so many errors of the server's own it will never be taken; the shard is then handed back. */
const mostSqlErrors = 20;
const retryMs = { first: 50, most: 1_000 };

export class CompletionQueue {
  readonly #db: Queryable;
  readonly #log: Log;
  #waiting: Entry[] = [];
  #running: Promise<void> | undefined;
  #pauseMs = 0;

  constructor(db: Queryable, log: Log) {
    this.#db = db;
    this.#log = log;
  }

  /** @param mayWait asked after a failure: is trying again still worth it? It is tried once in any case. */
  write(end: AttemptEnd, incarnation: string, mayWait: () => boolean): Promise<WriteResult> {
    return new Promise((settle) => {
      this.#waiting.push({ end, incarnation, mayWait, settle, uncertain: false, sqlErrors: 0 });
      this.#running ??= this.#run().finally(() => {
        this.#running = undefined;
      });
    });
  }

  get length(): number {
    return this.#waiting.length;
  }

  /** Fulfils when nothing is left to write. */
  async idle(): Promise<void> {
    while (this.#running) await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      await sleep(this.#pauseMs || gatherMs);
      const incarnation = this.#waiting[0]?.incarnation;
      const batch = this.#waiting.filter((entry) => entry.incarnation === incarnation).slice(0, maxBatch);
      // They stay in `#waiting` until they are settled, so that `length` tells the truth.
      await this.#writeBatch(batch);
    }
  }

  async #writeBatch(batch: readonly Entry[]): Promise<void> {
    try {
      await this.#settleWritten(batch.filter((entry) => entry.uncertain));
      await this.#send(batch.filter((entry) => this.#waiting.includes(entry)));
      if (this.#pauseMs > 0) this.#log.info({ waiting: this.#waiting.length }, "outcomes are written again");
      this.#pauseMs = 0;
    } catch (error) {
      if (this.#pauseMs === 0)
        this.#log.warn(
          { waiting: this.#waiting.length, reason: messageOf(error) },
          "outcomes could not be written; trying again",
        );
      this.#pauseMs = Math.min(retryMs.most, Math.max(retryMs.first, this.#pauseMs * 2));
      for (const entry of batch) {
        if (this.#waiting.includes(entry) && !entry.mayWait()) this.#settle(entry, "given-up");
      }
    }
  }

  async #send(entries: readonly Entry[]): Promise<void> {
    if (entries.length === 0) return;
    let accepted: boolean[];
    try {
      accepted = await completeAttempts(
        this.#db,
        entries[0]!.incarnation,
        entries.map((entry) => entry.end),
      );
    } catch (error) {
      // An error of the server's own means that nothing was written: one bad row must not hold up the others.
      if (sqlState(error) !== undefined) return this.#sendSingly(entries, error);
      for (const entry of entries) entry.uncertain = true;
      throw error;
    }
    await this.#settleWritten(entries.filter((entry, i) => !accepted[i] && entry.uncertain));
    for (const [i, entry] of entries.entries()) {
      if (this.#waiting.includes(entry)) this.#settle(entry, accepted[i] ? "accepted" : "refused");
    }
  }

  async #sendSingly(entries: readonly Entry[], error: unknown): Promise<void> {
    const only = entries.length === 1 ? entries[0] : undefined;
    if (only) {
      only.sqlErrors += 1;
      if (only.sqlErrors >= mostSqlErrors) {
        this.#log.error({ end: only.end, error }, "an outcome cannot be written");
        return this.#settle(only, "given-up");
      }
      throw error;
    }
    const results = await Promise.allSettled(entries.map((entry) => this.#send([entry])));
    const failure = results.find((result) => result.status === "rejected");
    if (failure) throw failure.reason;
  }

  /** Those that turn out to be written already are done. */
  async #settleWritten(entries: readonly Entry[]): Promise<void> {
    if (entries.length === 0) return;
    const written = await areOutcomesWritten(
      this.#db,
      entries.map((entry) => entry.end),
    );
    for (const [i, entry] of entries.entries()) if (written[i]) this.#settle(entry, "accepted");
  }

  #settle(entry: Entry, result: WriteResult): void {
    const at = this.#waiting.indexOf(entry);
    if (at >= 0) this.#waiting.splice(at, 1);
    entry.settle(result);
  }
}
