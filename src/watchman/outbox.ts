/**
 * Hands what waits to its receivers: at least once, marked only after the
 * receiver has accepted.
 *
 *   pending ─ claimed ─ handed over ─▶ accepted
 *      ▲                    │
 *      └── wait, doubled ───┤ not accepted      after `keepTrying`, or refused
 *          up to a cap      │                   as it is too often: failed
 *                           └ often enough: the fallback is told as well
 *
 * A process that dies between handing over and marking leaves a claim that
 * ends by itself: the message goes out again, with the same id. A channel that
 * does not answer is asked once a round, not once a message. What has waited
 * long, or is much, goes out as one digest, so that a receiver that comes back
 * is not drowned.
 */
import { createHash } from "node:crypto";
import type { Log } from "../base/log.ts";
import type { DeliverySettings } from "../spec/watch-definition.ts";
import type { Delivery, FailedTry, NewDelivery } from "../store/watch/outbox.ts";
import type { AlertMessage } from "./alert.ts";
import type { Acceptance, Channel } from "./channels/channel.ts";
import type { DeliveryQueue } from "./delivery-queue.ts";

export interface DeliveryReport {
  accepted: number;
  failed: number;
}

/** A claim outlasts what its holder can do in one round. */
const claimMs = 120_000;

export class Outbox {
  readonly #channels: ReadonlyMap<string, Channel>;
  readonly #settings: DeliverySettings;
  readonly #log: Log;
  /** By channel: rounds in a row that were not accepted. */
  readonly #failures = new Map<string, number>();
  /** Channels that a round is at: one that hangs holds up nobody else's next round. */
  readonly #busy = new Set<string>();

  constructor(channels: ReadonlyMap<string, Channel>, settings: DeliverySettings, log: Log) {
    this.#channels = channels;
    this.#settings = settings;
    this.#log = log;
  }

  /** True when no channel has accepted anything for several rounds: nobody hears us. */
  get isMute(): boolean {
    return [...this.#channels.keys()].every(
      (name) => (this.#failures.get(name) ?? 0) >= this.#settings.fallbackAfter,
    );
  }

  failuresOf(channel: string): number {
    return this.#failures.get(channel) ?? 0;
  }

  /** One round: everything that is due, all channels side by side, but for those that an earlier round is still at. @param now the database's clock, or what stands for it */
  async deliver(queue: DeliveryQueue, now: Date): Promise<DeliveryReport> {
    const report: DeliveryReport = { accepted: 0, failed: 0 };
    const byChannel = new Map<string, Delivery[]>();
    for (const one of await queue.claim(now, claimMs, [...this.#busy])) {
      const list = byChannel.get(one.channel);
      if (list) list.push(one);
      else byChannel.set(one.channel, [one]);
    }
    const rounds = [...byChannel].map(async ([name, deliveries]) => {
      this.#busy.add(name);
      try {
        const channel = this.#channels.get(name);
        if (channel) return await this.#round(channel, deliveries, queue, now, report);
        const error = "the watch file has no such channel any more";
        await this.#fail(deliveries, error, "final", queue, now, report);
      } finally {
        this.#busy.delete(name);
      }
    });
    const settled = await Promise.allSettled(rounds);
    for (const one of settled) if (one.status === "rejected") throw one.reason;
    return report;
  }

  async #round(
    channel: Channel,
    deliveries: readonly Delivery[],
    queue: DeliveryQueue,
    now: Date,
    report: DeliveryReport,
  ): Promise<void> {
    const parcels = pack(channel, deliveries, this.#settings, now);
    while (parcels.length > 0) {
      const parcel = parcels.shift()!;
      const answer = await hand(channel, parcel);
      if (answer.accepted) {
        this.#failures.set(channel.name, 0);
        await queue.accept(parcel, now);
        report.accepted += parcel.length;
      } else if (answer.rejected && parcel.length > 1) {
        // One of them spoils the rest: each for itself.
        parcels.unshift(...parcel.map((one) => [one]));
      } else if (answer.rejected) {
        await this.#fail(parcel, answer.reason, "refused", queue, now, report);
      } else {
        // It does not answer: those behind would fare no better.
        this.#failures.set(channel.name, this.failuresOf(channel.name) + 1);
        await this.#fail([...parcel, ...parcels.flat()], answer.reason, "silent", queue, now, report);
        return;
      }
    }
  }

  async #fail(
    deliveries: readonly Delivery[],
    error: string,
    /** `refused`: this message, not the channel, is the trouble. `final`: there is no such channel. */
    verdict: "silent" | "refused" | "final",
    queue: DeliveryQueue,
    now: Date,
    report: DeliveryReport,
  ): Promise<void> {
    const { retryFirstMs, retryCapMs, keepTryingMs, fallbackAfter } = this.#settings;
    const final = verdict === "final";
    const failed: FailedTry[] = [];
    const instead: NewDelivery[] = [];
    for (const one of deliveries) {
      const waitMs = Math.min(retryCapMs, retryFirstMs * 2 ** Math.min(one.attempts, 30));
      const often = one.attempts + 1 >= fallbackAfter;
      const over =
        final || (verdict === "refused" && often) || now.getTime() - one.createdAt.getTime() >= keepTryingMs;
      failed.push({
        deliveryId: one.deliveryId,
        nextTryAt: over ? null : new Date(now.getTime() + waitMs),
        error,
      });
      if (final || often) {
        for (const channel of one.fallback) {
          if (channel === one.channel) continue;
          const { messageId, alertKey, message } = one;
          instead.push({ messageId, channel, alertKey, message, fallback: [] });
        }
      }
    }
    report.failed += deliveries.length;
    this.#log.warn(
      { channel: deliveries[0]?.channel, messages: deliveries.length, reason: error },
      "alerts were not accepted",
    );
    await queue.fail(failed);
    if (instead.length > 0) await queue.tellFallback(instead, now);
  }
}

/** What is handed over together: all where the receiver keeps state, else what is old or much as digests, and the rest one by one. */
function pack(
  channel: Channel,
  deliveries: readonly Delivery[],
  { digestAbove, digestAfterMs }: DeliverySettings,
  now: Date,
): Delivery[][] {
  if (channel.keepsState) return [[...deliveries]];
  const isOld = (one: Delivery) => now.getTime() - one.createdAt.getTime() >= digestAfterMs;
  const old = deliveries.filter(isOld);
  const fresh = deliveries.filter((one) => !isOld(one));
  return [
    ...(old.length > 0 ? [old] : []),
    ...(fresh.length > digestAbove ? [fresh] : fresh.map((one) => [one])),
  ];
}

async function hand(channel: Channel, parcel: readonly Delivery[]): Promise<Acceptance> {
  const messages = parcel.map((one) => one.message as AlertMessage);
  if (channel.keepsState || messages.length === 1 || !channel.sendDigest) return await channel.send(messages);
  const ids = messages.map(({ id }) => id).join("\n");
  const id = `digest:${createHash("sha256").update(ids).digest("hex").slice(0, 32)}`;
  return await channel.sendDigest({ id, messages });
}
