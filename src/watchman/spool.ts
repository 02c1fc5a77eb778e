/**
 * The watchman's own small file, for the time in which the store is away: what
 * alerts, what must be told, and what was told already. Append-only, one JSON
 * object a line, synced before anything is sent; brought into the store and
 * emptied when that is back. A line that was cut by a crash is dropped.
 */
import { constants } from "node:fs";
import { mkdir, open, readFile, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { EscapementError, messageOf } from "../base/errors.ts";
import type { Delivery, FailedTry, NewDelivery, SettledDelivery } from "../store/watch/outbox.ts";
import type { BookAlert } from "./alert.ts";
import type { DeliveryQueue } from "./delivery-queue.ts";
import { type SpoolLine, spoolLine } from "./spool-line.ts";

interface Waiting {
  readonly delivery: Delivery;
  acceptedAt: Date | null;
  nextTryAt: Date;
  attempts: number;
  givenUp: boolean;
}

export class Spool implements DeliveryQueue {
  readonly #file: string;
  readonly #alerts = new Map<string, BookAlert>();
  readonly #waiting = new Map<string, Waiting>();
  /** The last write was cut, so the next one must begin on a line of its own. */
  #torn = false;
  #nextId = 1;

  private constructor(file: string) {
    this.#file = file;
  }

  /** Reads what a watchman before has left. @throws E_FILE_UNREADABLE */
  static async open(file: string): Promise<Spool> {
    const spool = new Spool(file);
    const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return "";
      throw new EscapementError("E_FILE_UNREADABLE", { file, reason: messageOf(error) });
    });
    spool.#torn = text !== "" && !text.endsWith("\n");
    for (const line of text.split("\n")) {
      const parsed = spoolLine(line);
      if (parsed) spool.#take(parsed);
    }
    return spool;
  }

  get isEmpty(): boolean {
    return this.#alerts.size === 0 && this.#waiting.size === 0;
  }

  /** The alerts as they were last. */
  get alerts(): readonly BookAlert[] {
    return [...this.#alerts.values()];
  }

  /** What was queued here, and which of it was accepted. */
  get deliveries(): readonly SettledDelivery[] {
    return [...this.#waiting.values()].map(({ delivery, acceptedAt }) => ({ ...delivery, acceptedAt }));
  }

  /** What nobody has accepted yet. */
  get pending(): readonly Delivery[] {
    return this.#pending().map(({ delivery }) => delivery);
  }

  #pending(): readonly Waiting[] {
    return [...this.#waiting.values()].filter((one) => one.acceptedAt === null && !one.givenUp);
  }

  /** Keeps alerts, and queues messages about them. */
  async save(alerts: readonly BookAlert[], messages: readonly NewDelivery[], now: Date): Promise<void> {
    const lines: SpoolLine[] = [
      ...alerts.map((alert): SpoolLine => ({ alert })),
      ...messages
        .filter((one) => !this.#waiting.has(keyOf(one)))
        .map((one): SpoolLine => ({ queued: { ...one, createdAt: now } })),
    ];
    await this.#append(lines);
  }

  async claim(now: Date, _forMs: number, except: readonly string[]): Promise<readonly Delivery[]> {
    const pending = this.#pending().filter(({ delivery }) => !except.includes(delivery.channel));
    const due = new Set(pending.filter((one) => one.nextTryAt <= now).map((one) => one.delivery.channel));
    return pending
      .filter((one) => due.has(one.delivery.channel))
      .map(({ delivery, attempts }) => ({ ...delivery, attempts }));
  }

  async accept(deliveries: readonly NewDelivery[], now: Date): Promise<void> {
    await this.#append(
      deliveries.map(({ messageId, channel }) => ({ accepted: { messageId, channel, at: now } })),
    );
  }

  /** Notes the acceptance of what was queued in the store. */
  async noteAccepted(deliveries: readonly Delivery[], now: Date): Promise<void> {
    await this.#append(
      deliveries.flatMap(({ messageId, channel, alertKey, fallback, message, createdAt }): SpoolLine[] => [
        { queued: { messageId, channel, alertKey, fallback, message, createdAt } },
        { accepted: { messageId, channel, at: now } },
      ]),
    );
  }

  /** Tries are counted in memory alone: after a restart they begin anew, and at once. */
  async fail(failed: readonly FailedTry[]): Promise<void> {
    const byId = new Map(failed.map((one) => [one.deliveryId, one]));
    for (const one of this.#waiting.values()) {
      const failure = byId.get(one.delivery.deliveryId);
      if (!failure) continue;
      one.attempts++;
      if (failure.nextTryAt === null) one.givenUp = true;
      else one.nextTryAt = failure.nextTryAt;
    }
  }

  async tellFallback(deliveries: readonly NewDelivery[], now: Date): Promise<void> {
    const alerts: BookAlert[] = [];
    for (const { alertKey, channel } of deliveries) {
      const alert = this.#alerts.get(alertKey);
      if (alert && !alert.channels.includes(channel))
        alerts.push({ ...alert, channels: [...alert.channels, channel] });
    }
    await this.save(alerts, deliveries, now);
  }

  /** Forgets everything: the store has it. A file that stays is read again by the next process, which does no harm. @throws what the disk says */
  async clear(): Promise<void> {
    this.#alerts.clear();
    this.#waiting.clear();
    await rm(this.#file, { force: true });
    this.#torn = false;
  }

  async #append(lines: readonly SpoolLine[]): Promise<void> {
    if (lines.length === 0) return;
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
    // What cannot be written is kept in memory at least.
    for (const line of lines) this.#take(line);
    await mkdir(dirname(this.#file), { recursive: true });
    await appendSynced(this.#file, this.#torn ? `\n${text}` : text);
    this.#torn = false;
  }

  #take(line: SpoolLine): void {
    if ("alert" in line) {
      this.#alerts.set(line.alert.key, line.alert);
    } else if ("queued" in line) {
      const key = keyOf(line.queued);
      if (this.#waiting.has(key)) return;
      const delivery = { ...line.queued, deliveryId: this.#nextId++, attempts: 0 };
      this.#waiting.set(key, {
        delivery,
        acceptedAt: null,
        nextTryAt: line.queued.createdAt,
        attempts: 0,
        givenUp: false,
      });
    } else {
      const waiting = this.#waiting.get(keyOf(line.accepted));
      if (waiting) waiting.acceptedAt = line.accepted.at;
    }
  }
}

function keyOf({ messageId, channel }: { readonly messageId: string; readonly channel: string }): string {
  return `${channel} ${messageId}`;
}

/** Alerts may name jobs and people: nobody else reads them. */
async function appendSynced(file: string, text: string): Promise<void> {
  const handle = await open(file, constants.O_CREAT | constants.O_WRONLY | constants.O_APPEND, 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
