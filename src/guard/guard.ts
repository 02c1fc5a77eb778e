/** The guard as one object, bound to the database the job writes to. */
import { Database } from "../store/database.ts";
import { createLiveView } from "../store/guard-replace.ts";
import { requireGuard } from "../store/guard-schema.ts";
import { type Checkpoint, openPlace } from "./checkpoint.ts";
import { type ClaimOutcome, claim, claimMany } from "./claim.ts";
import { type CallAttempt, type CallOptions, type CallOutcome, externalCall } from "./external-call.ts";
import { type Fence, withFence } from "./fence.ts";
import { type OnceOptions, type OnceOutcome, type OnceRun, once } from "./once.ts";
import type { Queryable } from "./queryable.ts";
import { type ReplaceBy, type Replaced, replaceWhole } from "./replace-whole.ts";
import { WorkList, type WorkListOptions } from "./work-items.ts";

/** @param target a `pg` pool or client, or the URL of a database (then call `end` when done) */
export function openGuard(target: Queryable | { readonly url: string }): Guard {
  return "url" in target
    ? new Guard(new Database(target.url, { applicationName: "escapement guard" }))
    : new Guard(target);
}

export class Guard {
  readonly #db: Queryable;
  #checked: Promise<void> | undefined;

  constructor(db: Queryable) {
    this.#db = db;
  }

  /** Looks once whether the schema is there and of our version. @throws E_GUARD_NOT_INSTALLED, E_GUARD_SCHEMA */
  async #ready(): Promise<Queryable> {
    this.#checked ??= requireGuard(this.#db);
    try {
      await this.#checked;
    } catch (error) {
      // Not remembered: the database may just have been away.
      this.#checked = undefined;
      throw error;
    }
    return this.#db;
  }

  /** See {@link claim}. */
  async claim<T = null>(key: string, tx: Queryable, act?: () => Promise<T> | T): Promise<ClaimOutcome<T>> {
    return await claim(key, tx, act);
  }

  /** See {@link claimMany}. */
  async claimMany(keys: readonly string[], tx: Queryable): Promise<string[]> {
    return await claimMany(keys, tx);
  }

  /** See {@link withFence}. */
  async withFence(tx: Queryable, fence: Fence): Promise<void> {
    await withFence(tx, fence);
  }

  /** See {@link externalCall}. */
  async externalCall<T>(
    key: string,
    options: CallOptions,
    call: (attempt: CallAttempt) => Promise<T>,
  ): Promise<CallOutcome<T>> {
    return await externalCall(await this.#ready(), key, options, call);
  }

  /** See {@link replaceWhole}. */
  async replaceWhole(
    target: ReplaceBy,
    scope: Readonly<Record<string, unknown>>,
    rows: Iterable<Readonly<Record<string, unknown>>> | AsyncIterable<Readonly<Record<string, unknown>>>,
    batchRows?: number,
  ): Promise<Replaced> {
    return await replaceWhole(await this.#ready(), target, scope, rows, batchRows);
  }

  /** Creates or replaces a view that shows the live rows of a table replaced by version. */
  async liveView(
    view: string,
    table: string,
    versionColumn: string,
    scopeColumns: readonly string[],
  ): Promise<void> {
    await createLiveView(await this.#ready(), view, table, versionColumn, scopeColumns);
  }

  /** A list of work items; its name carries the date. See {@link WorkList}. */
  workItems<P = unknown>(list: string, options: WorkListOptions): WorkList<P> {
    return new WorkList<P>(this.#db, list, options);
  }

  /** Opens a checkpoint and takes it over. */
  async checkpoint<P = unknown>(key: string): Promise<Checkpoint<P>> {
    return await openPlace<P>(await this.#ready(), key);
  }

  /** See {@link once}. */
  async once<T>(options: OnceOptions, work: (run: OnceRun) => Promise<T>): Promise<OnceOutcome<T>> {
    return await once(await this.#ready(), options, work);
  }

  /** Closes what `openGuard({ url })` opened; a pool of yours stays open. */
  async end(): Promise<void> {
    if (this.#db instanceof Database) await this.#db.end();
  }
}
