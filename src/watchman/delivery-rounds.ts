/** Rounds of deliveries: a slow receiver must hold up neither the judging nor other receivers, so they go on beside the passes. */
import { isEscapementError, messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { BookAlert } from "./alert.ts";
import type { DeliveryQueue } from "./delivery-queue.ts";
import type { Heartbeat } from "./heartbeat.ts";
import type { Outbox } from "./outbox.ts";
import type { Reposts } from "./reposts.ts";

export interface RoundParts {
  readonly outbox: Outbox;
  readonly reposts: Reposts;
  /** The alerts that are open now. */
  readonly open: () => readonly BookAlert[];
  readonly heartbeat: Heartbeat | undefined;
  readonly log: Log;
}

export class DeliveryRounds {
  readonly #parts: RoundParts;
  readonly #running = new Set<Promise<void>>();

  constructor(parts: RoundParts) {
    this.#parts = parts;
  }

  /** Hands over what waits in the queue, in the background. Never throws. */
  begin(queue: DeliveryQueue, now: Date): void {
    const round = this.#deliver(queue, now)
      .catch((error: unknown) => {
        const away = isEscapementError(error) && error.code === "E_STORE_UNAVAILABLE";
        this.#parts.log.warn({ reason: messageOf(error), away }, "a round of deliveries was cut short");
      })
      .finally(() => this.#running.delete(round));
    this.#running.add(round);
  }

  /** Waits for the rounds that are on their way. */
  async settled(): Promise<void> {
    await Promise.all(this.#running);
  }

  async #deliver(queue: DeliveryQueue, now: Date): Promise<void> {
    const { outbox, reposts, open, heartbeat } = this.#parts;
    const done = outbox.deliver(queue, now);
    await Promise.allSettled([done, reposts.post(open)]);
    // Who can tell nobody must not seem well.
    if (!outbox.isMute) await heartbeat?.beat();
    await done;
  }
}
