/**
 * Keeps a run's lease in the store and learns from it whether to go on.
 *
 *   kept ──renewed──▶ kept ──▶ … ──▶ stopped: abort asked, halt, or the run is not ours any more
 *
 * A store that does not answer stops nothing: it may be the very fault.
 */
import { messageOf } from "../../base/errors.ts";
import { sleep } from "../../base/monotonic.ts";
import type { Queryable } from "../../store/database.ts";
import { activeDrillHalt } from "../../store/drill/drill-halt.ts";
import { renewDrillRun } from "../../store/drill/drill-run.ts";
import { leastRunLeaseMs } from "../../store/drill/run-silence.ts";

/** A run whose controller has been silent for this long may be ended by others. */
export const runLeaseMs = leastRunLeaseMs;
const renewEveryMs = 1_000;

export class RunLease {
  readonly #db: Queryable;
  readonly #runId: string;
  readonly #controller: string;
  readonly #asked = new AbortController();
  readonly #ended = new AbortController();
  #leaseMs: number;
  #loop: Promise<void> | undefined;
  #lost = false;
  #trouble: string | undefined;

  constructor(db: Queryable, runId: string, controller: string, leaseMs = runLeaseMs) {
    this.#db = db;
    this.#runId = runId;
    this.#controller = controller;
    this.#leaseMs = leaseMs;
  }

  /** Fires when the fault has to be taken back; its reason says why. */
  get stop(): AbortSignal {
    return this.#asked.signal;
  }

  /** The run was taken over by another controller. */
  get lost(): boolean {
    return this.#lost;
  }

  /** How long it lasts from a renewal on. */
  get leaseMs(): number {
    return this.#leaseMs;
  }

  /** What the store said last, if it did not answer. */
  get trouble(): string | undefined {
    return this.#trouble;
  }

  start(): void {
    this.#loop = this.#keep();
  }

  /** From the next renewal on the lease is longer: for a fault that takes the store away. */
  lengthen(byMs: number): void {
    this.#leaseMs += byMs;
  }

  async end(): Promise<void> {
    this.#ended.abort();
    await this.#loop;
  }

  async #keep(): Promise<void> {
    while (!this.#ended.signal.aborted) {
      await this.#renew();
      await sleep(renewEveryMs, this.#ended.signal);
    }
  }

  async #renew(): Promise<void> {
    try {
      const renewal = await renewDrillRun(this.#db, this.#runId, this.#controller, this.#leaseMs);
      if (renewal === null) {
        this.#lost = true;
        this.#asked.abort("the run was ended by another controller");
        return;
      }
      if (renewal.abort !== null) this.#asked.abort(`aborted: ${renewal.abort}`);
      const halt = await activeDrillHalt(this.#db);
      if (halt) this.#asked.abort(`halted by ${halt.person}: ${halt.reason}`);
      this.#trouble = undefined;
    } catch (error) {
      this.#trouble = messageOf(error);
    }
  }
}
