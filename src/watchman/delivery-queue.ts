/** Where messages wait for their receivers: in the store, or in the spool while the store is away. */
import { isEscapementError } from "../base/errors.ts";
import type { Database } from "../store/database.ts";
import {
  acceptDeliveries,
  addToldChannels,
  claimDeliveries,
  type Delivery,
  type FailedTry,
  failDeliveries,
  type NewDelivery,
  queueDeliveries,
} from "../store/watch/outbox.ts";
import type { Outgoing } from "./alert.ts";
import type { Spool } from "./spool.ts";

export interface DeliveryQueue {
  /** Everything that may be tried now, oldest first, but for the channels `except`; nobody else has it for so long. */
  claim(now: Date, forMs: number, except: readonly string[]): Promise<readonly Delivery[]>;
  accept(deliveries: readonly Delivery[], now: Date): Promise<void>;
  fail(failed: readonly FailedTry[]): Promise<void>;
  /** Tells others, in place of a channel that fails. */
  tellFallback(deliveries: readonly NewDelivery[], now: Date): Promise<void>;
}

export function asNewDelivery({ channel, fallback, message }: Outgoing): NewDelivery {
  return { messageId: message.id, channel, alertKey: message.key, fallback, message };
}

export class StoreQueue implements DeliveryQueue {
  readonly #db: Database;
  readonly #node: string;
  readonly #spool: Spool;

  constructor(db: Database, node: string, spool: Spool) {
    this.#db = db;
    this.#node = node;
    this.#spool = spool;
  }

  claim(now: Date, forMs: number, except: readonly string[]): Promise<readonly Delivery[]> {
    const until = new Date(now.getTime() + forMs);
    return claimDeliveries(this.#db, { now, until, by: this.#node, except });
  }

  /** The store may go while a receiver answers: then the spool remembers, so that nobody is told twice. */
  async accept(deliveries: readonly Delivery[], now: Date): Promise<void> {
    const ids = deliveries.map(({ deliveryId }) => deliveryId);
    try {
      await acceptDeliveries(this.#db, ids, now);
    } catch (error) {
      if (!isEscapementError(error) || error.code !== "E_STORE_UNAVAILABLE") throw error;
      await this.#spool.noteAccepted(deliveries, now);
    }
  }

  fail(failed: readonly FailedTry[]): Promise<void> {
    return failDeliveries(this.#db, failed);
  }

  async tellFallback(deliveries: readonly NewDelivery[], now: Date): Promise<void> {
    await this.#db.transaction(async (tx) => {
      await queueDeliveries(tx, deliveries, now);
      await addToldChannels(tx, deliveries);
    });
  }
}
