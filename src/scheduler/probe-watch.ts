/**
 * Ends the probes of a drill whose controller is gone. The database's clock may
 * be moved by the drill itself, and the store may have been away: only what the
 * leader has seen unchanged for a while by its own monotonic clock counts.
 *
 *   looked after ──nobody alive──▶ suspected ──unchanged for `patienceMs`──▶ removed
 *        ▲                             │
 *        └────── anything changes ─────┘
 */
import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { monotonicMs } from "../base/monotonic.ts";
import { type Database, sqlState } from "../store/database.ts";
import {
  type AbandonedProbes,
  abandonedProbes,
  removeAbandonedProbes,
} from "../store/drill/abandoned-probes.ts";

/** Twice the lease of a controller, which renews it every few seconds while it can. */
const usualPatienceMs = 60_000;

export class ProbeWatch {
  readonly #node: string;
  readonly #log: Log;
  readonly #patienceMs: number;
  #suspected: { readonly seen: AbandonedProbes; readonly sinceMs: number } | undefined;

  /** @param node who ends them, for the record */
  constructor(node: string, log: Log, patienceMs = usualPatienceMs) {
    this.#node = node;
    this.#log = log;
    this.#patienceMs = patienceMs;
  }

  /** Looks once. @throws E_STORE_UNAVAILABLE */
  async look(db: Database): Promise<void> {
    const seen = await abandonedProbes(db);
    if (seen === null) {
      this.#suspected = undefined;
      return;
    }
    const before = this.#suspected;
    if (before?.seen.runId !== seen.runId || before.seen.leaseUntil !== seen.leaseUntil) {
      this.#suspected = { seen, sinceMs: monotonicMs() };
      return;
    }
    if (monotonicMs() - before.sinceMs < this.#patienceMs) return;
    this.#suspected = undefined;
    const reason =
      seen.runId === null ? "no drill is on" : `the controller of drill ${seen.runId} has not been heard of`;
    try {
      const removed = await removeAbandonedProbes(db, seen, { person: `scheduler ${this.#node}`, reason });
      if (removed > 0)
        this.#log.warn({ run: seen.runId, removed }, "probes of a drill that nobody leads were removed");
    } catch (error) {
      // Nobody's fires depend on it: what the store refuses is said, and tried again.
      if (sqlState(error) === undefined) throw error;
      this.#log.warn(
        { reason: messageOf(error) },
        "probes of a drill that nobody leads could not be removed",
      );
    }
  }
}
