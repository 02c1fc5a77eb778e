/**
 * Where findings become alerts that arrive. Each pass: the book is read, moved
 * one step, written together with the messages that follow from it, and the
 * messages are handed over in the background.
 *
 *   store answers:  book and queue in the store; what the spool holds goes there first
 *   store away:     book in memory, queue in the spool; nothing is called over
 */
import type { Log } from "../base/log.ts";
import { monotonicMs } from "../base/monotonic.ts";
import type { WatchDefinition } from "../spec/watch-definition.ts";
import type { Database } from "../store/database.ts";
import { forgetPending, readBook, writeBook } from "../store/watch/alert-book.ts";
import {
  acceptedTests,
  bringInDeliveries,
  channelHealth,
  queueDeliveries,
  releaseClaims,
  unacceptedTests,
} from "../store/watch/outbox.ts";
import { activeSilences } from "../store/watch/silence.ts";
import {
  noteWatchmanEnd,
  noteWatchmanPass,
  noteWatchmanStart,
  type WatchmanIdentity,
} from "../store/watch/watchman-row.ts";
import { type BookAlert, isNews, type Observation, type Outgoing } from "./alert.ts";
import { advanceBook, type BookStep } from "./alert-book.ts";
import { groupKeys } from "./alert-group.ts";
import type { AlertSink } from "./alert-sink.ts";
import { fromRow, notedObservations, toRow } from "./book-rows.ts";
import { CarriedClock } from "./carried-clock.ts";
import type { Channel } from "./channels/channel.ts";
import { openChannels } from "./channels/open-channels.ts";
import { channelObservations } from "./delivery-observations.ts";
import { asNewDelivery, type DeliveryQueue, StoreQueue } from "./delivery-queue.ts";
import { DeliveryRounds } from "./delivery-rounds.ts";
import { channelStatus, type DeliveryStatus, nothingKnown, type StoreSide } from "./delivery-status.ts";
import type { Finding } from "./finding.ts";
import { Heartbeat } from "./heartbeat.ts";
import { Outbox } from "./outbox.ts";
import type { Picture } from "./picture.ts";
import { QuietTimes, type Silence } from "./quiet.ts";
import { Reposts } from "./reposts.ts";
import { Spool } from "./spool.ts";
import { StartUpGrace } from "./start-up-grace.ts";
import { TestAlerts } from "./test-alert.ts";

export interface DeskOptions {
  readonly watch: WatchDefinition;
  readonly db: Database;
  readonly who: WatchmanIdentity;
  readonly log: Log;
  /** Carries the database's clock on while that does not answer; default: our monotonic clock. */
  readonly stopwatchMs?: () => number;
}

/** What others have noted longer ago is history. */
const notedForMs = 86_400_000;

export class AlertDesk implements AlertSink {
  readonly #watch: WatchDefinition;
  readonly #db: Database;
  readonly #who: WatchmanIdentity;
  readonly #log: Log;
  readonly #channels: ReadonlyMap<string, Channel>;
  readonly #outbox: Outbox;
  readonly #spool: Spool;
  readonly #quiet: QuietTimes;
  readonly #tests: TestAlerts | undefined;
  readonly #heartbeat: Heartbeat | undefined;
  readonly #clock: CarriedClock;
  readonly #grace: StartUpGrace;
  readonly #rounds: DeliveryRounds;
  #book: ReadonlyMap<string, BookAlert>;
  #silences: readonly Silence[] = [];
  #storeSide: StoreSide = nothingKnown;

  private constructor({ watch, db, who, log, stopwatchMs = monotonicMs }: DeskOptions, spool: Spool) {
    this.#clock = new CarriedClock(stopwatchMs);
    this.#grace = new StartUpGrace(watch.startUpGraceMs, stopwatchMs);
    this.#watch = watch;
    this.#db = db;
    this.#who = who;
    this.#log = log;
    this.#channels = openChannels(watch.channels);
    this.#outbox = new Outbox(this.#channels, watch.delivery, log);
    this.#spool = spool;
    this.#quiet = new QuietTimes(watch.windows);
    this.#tests = watch.testAlert && new TestAlerts(watch.testAlert, [...this.#channels.keys()]);
    this.#heartbeat = watch.heartbeat && new Heartbeat(watch.heartbeat, log);
    this.#rounds = new DeliveryRounds({
      outbox: this.#outbox,
      reposts: new Reposts(this.#channels, log),
      open: () => this.status.open,
      heartbeat: this.#heartbeat,
      log,
    });
    this.#book = new Map(spool.alerts.map((alert) => [alert.key, alert]));
  }

  /** Reads the spool; the store need not be there. @throws E_FILE_UNREADABLE */
  static async open(options: DeskOptions): Promise<AlertDesk> {
    return new AlertDesk(options, await Spool.open(options.watch.spoolFile));
  }

  /** For metrics. */
  get status(): DeliveryStatus {
    const [now, spooled] = [this.#clock.now, this.#spool.pending];
    return {
      open: [...this.#book.values()].filter((one) => one.opened !== null && one.resolved === null),
      spooled: spooled.length,
      channels: [...this.#channels.keys()].map((name) =>
        channelStatus(name, this.#outbox.failuresOf(name), this.#storeSide, spooled, now),
      ),
      heartbeatMs: this.#heartbeat?.silentMs ?? null,
    };
  }

  async present(findings: readonly Finding[], picture: Picture | null): Promise<void> {
    const now = picture?.now ?? this.#clock.now;
    if (picture) this.#clock.learn(now);
    const queue = (picture && (await this.#inStore(findings, now))) ?? (await this.#inSpool(findings, now));
    this.#rounds.begin(queue, now);
  }

  /** Waits for the rounds that are on their way. */
  async settled(): Promise<void> {
    await this.#rounds.settled();
  }

  async close(): Promise<void> {
    await this.settled();
    if (this.#grace.isNoted) await noteWatchmanEnd(this.#db, this.#who);
  }

  /** @returns undefined when the store would not have it */
  async #inStore(findings: readonly Finding[], now: Date): Promise<DeliveryQueue | undefined> {
    let step: BookStep | undefined;
    try {
      await this.#arrive(now);
      const notedSince = new Date(now.getTime() - notedForMs);
      this.#silences = await activeSilences(this.#db, now);
      const health = await channelHealth(this.#db, now);
      this.#storeSide = { health, tests: this.#tests ? await acceptedTests(this.#db) : [] };
      const own: Observation[] = [
        ...channelObservations(health, now),
        ...(this.#tests?.lost(await unacceptedTests(this.#db), now) ?? []),
      ];
      const keys = [...new Set([...findings, ...own].flatMap(groupKeys))];
      const rows = await readBook(this.#db, keys, notedSince);
      const seen = [...findings, ...own, ...notedObservations(rows, findings, notedSince)];
      const book = new Map(rows.map((row) => [row.key, fromRow(row)]));
      step = this.#advance(book, seen, now, true);
      const test = this.#tests?.due(now);
      const { alerts, forgotten } = step;
      const messages = [...this.#wanted(step.messages), ...(test?.messages ?? [])];
      await this.#db.transaction(async (tx) => {
        await forgetPending(tx, forgotten);
        await writeBook(tx, (test ? [...alerts, test.alert] : alerts).map(toRow), now);
        await queueDeliveries(tx, messages.map(asNewDelivery), now);
      });
      await noteWatchmanPass(this.#db, this.#who.node, now);
      this.#keep(book, step);
      return new StoreQueue(this.#db, this.#who.node, this.#spool);
    } catch (error) {
      this.#log.error({ error }, "alerts could not be written into the store; the spool takes them");
      return undefined;
    }
  }

  /** Once: says that we are here. Always: hands over what the spool holds. */
  async #arrive(now: Date): Promise<void> {
    if (!this.#grace.isNoted) {
      this.#grace.note(await noteWatchmanStart(this.#db, this.#who, now, this.#watch.startUpGraceMs));
      await releaseClaims(this.#db, this.#who.node);
    }
    if (this.#spool.isEmpty) return;
    // A round that still sends from the spool must have noted what it sent.
    await this.settled();
    const { alerts, deliveries } = this.#spool;
    const unknown = await this.#db.transaction(async (tx) => {
      await writeBook(tx, alerts.map(toRow), now);
      return bringInDeliveries(tx, deliveries);
    });
    if (unknown.length > 0)
      this.#log.error(
        { keys: unknown },
        "messages of alerts that the store does not know any more are dropped",
      );
    await this.#spool.clear().catch((error: unknown) => {
      this.#log.warn({ error }, "the spool could not be emptied");
    });
    this.#log.info(
      { alerts: alerts.length, messages: deliveries.length },
      "the spool was brought into the store",
    );
  }

  async #inSpool(findings: readonly Finding[], now: Date): Promise<DeliveryQueue> {
    const before = this.#book;
    const step = this.#advance(before, findings, now, false);
    const changed = step.alerts.filter((one) => isNews(before.get(one.key), one));
    try {
      await this.#spool.save(changed, this.#wanted(step.messages).map(asNewDelivery), now);
    } catch (error) {
      // Neither store nor disk: what is to be told is tried from memory alone.
      this.#log.error({ error }, "the spool could not be written");
    }
    this.#keep(before, step);
    return this.#spool;
  }

  #advance(
    book: ReadonlyMap<string, BookAlert>,
    seen: readonly Observation[],
    now: Date,
    complete: boolean,
  ): BookStep {
    const { rules, routes, silences, everyMs } = this.#watch;
    const all = [...silences, ...this.#silences];
    return advanceBook(book, seen, {
      ...{ now, complete, inGrace: this.#grace.isOn(now), rules, routes },
      clearAfterMs: 1.5 * everyMs,
      quiet: (alert) => this.#quiet.reason(alert, all, now),
    });
  }

  #keep(book: ReadonlyMap<string, BookAlert>, step: BookStep): void {
    const next = new Map(book);
    for (const alert of step.alerts) next.set(alert.key, alert);
    for (const key of step.forgotten) next.delete(key);
    this.#book = next;
  }

  /** The end of what was only noted is news to nobody but a receiver that keeps state. */
  #wanted(messages: readonly Outgoing[]): readonly Outgoing[] {
    return messages.filter(
      ({ channel, message }) =>
        message.phase !== "resolved" || message.watched || this.#channels.get(channel)?.keepsState,
    );
  }
}
