/**
 * The watchman's loop: look, judge, tell.
 *
 *          ┌──────────────── every 30 s ────────────────┐
 *          ▼                                             │
 *       look ──picture──▶ judge ──findings──▶ tell ──────┤
 *          │                                             │
 *          └──the store does not answer──▶ away ─────────┤ every 5 s
 *                                           │            │
 *                                a minute of it: tell ───┘
 *
 * It needs neither scheduler nor executor nor virtual address; the store's
 * absence is what it can still tell.
 */
import { isEscapementError, messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { monotonicMs, sleep } from "../base/monotonic.ts";
import type { Queryable } from "../store/database.ts";
import type { AlertSink } from "./alert-sink.ts";
import type { Finding } from "./finding.ts";
import { judge, storeUnreachable } from "./judge.ts";
import { WatchmanMetrics } from "./metrics.ts";
import type { Picture } from "./picture.ts";
import type { WatchSettings } from "./settings.ts";
import { unwatched } from "./unwatched.ts";

export interface WatchmanOptions {
  readonly node: string;
  readonly settings: WatchSettings;
  readonly everyMs: number;
  readonly db: Queryable;
  /** Asked before the first look. @throws for a schema that this program does not know */
  checkStore(): Promise<void>;
  readonly reader: { read(): Promise<Picture> };
  readonly clock: { observe(db: Queryable): Promise<void>; forget(): void };
  readonly sink: AlertSink;
  readonly log: Log;
}

/** What one pass has come to; `picture` null: the store was away. */
export interface Pass {
  readonly findings: readonly Finding[];
  readonly picture: Picture | null;
}

const retryMs = 5_000;
/** So many missed passes make it not ready. */
const patience = 3;

export class Watchman {
  readonly metrics: WatchmanMetrics;
  readonly #options: WatchmanOptions;
  #passedAtMs: number | null = null;
  #awaySinceMs: number | null = null;
  #awayReason = "";
  #storeChecked = false;
  readonly #startedAtMs = monotonicMs();

  constructor(options: WatchmanOptions) {
    this.#options = options;
    this.metrics = new WatchmanMetrics(
      () => (this.#passedAtMs === null ? null : (monotonicMs() - this.#passedAtMs) / 1000),
      (picture) => unwatched(picture, options.settings),
    );
  }

  /** Null when it judges, else why not. */
  notReady(): string | null {
    if (this.#awaySinceMs !== null)
      return `the record store has not answered for ${Math.round((monotonicMs() - this.#awaySinceMs) / 1000)} s: ${this.#awayReason}`;
    const silentMs = monotonicMs() - (this.#passedAtMs ?? this.#startedAtMs);
    if (this.#passedAtMs === null) return "the first pass has not ended";
    return silentMs > patience * this.#options.everyMs
      ? `no pass has ended for ${Math.round(silentMs / 1000)} s`
      : null;
  }

  /** Runs until the signal. @throws what waiting will not cure: an unknown schema, a refused right */
  async run(signal: AbortSignal): Promise<void> {
    const { everyMs, sink } = this.#options;
    try {
      while (!signal.aborted) {
        const startMs = monotonicMs();
        await this.pass();
        const waitMs = this.#awaySinceMs === null ? everyMs : Math.min(everyMs, retryMs);
        await sleep(startMs + waitMs - monotonicMs(), signal);
      }
    } finally {
      await sink.close();
    }
  }

  /** One look at everything. */
  async pass(): Promise<Pass> {
    const { db, reader, clock, settings, sink, log } = this.#options;
    const startMs = monotonicMs();
    let pass: Pass;
    try {
      if (!this.#storeChecked) await this.#options.checkStore();
      this.#storeChecked = true;
      await clock.observe(db);
      const picture = await reader.read();
      pass = { findings: judge(picture, settings), picture };
      this.#passed(monotonicMs() - startMs);
    } catch (error) {
      if (!isAway(error)) {
        this.metrics.passErrors.add();
        throw error;
      }
      pass = this.#away(messageOf(error));
    }
    this.metrics.show(pass.findings, pass.picture);
    if (pass.picture || pass.findings.length > 0) {
      // What could not be told is told again in the next pass; the watch goes on.
      await sink.present(pass.findings, pass.picture).catch((error: unknown) => {
        log.error({ error }, "the findings could not be passed on");
      });
    }
    return pass;
  }

  #passed(tookMs: number): void {
    if (this.#awaySinceMs !== null) this.#options.log.info({}, "the record store answers again");
    this.#awaySinceMs = null;
    this.#passedAtMs = monotonicMs();
    this.metrics.passes.add();
    this.metrics.passSeconds.observe(tookMs / 1000);
  }

  #away(reason: string): Pass {
    const { clock, settings, node, log } = this.#options;
    if (this.#awaySinceMs === null) {
      this.#awaySinceMs = monotonicMs();
      log.error({ reason }, "the record store does not answer");
    }
    this.#awayReason = reason;
    this.metrics.passErrors.add();
    clock.forget();
    const awayMs = monotonicMs() - this.#awaySinceMs;
    const findings = awayMs >= settings.silentMs ? [storeUnreachable(reason, awayMs, node)] : [];
    return { findings, picture: null };
  }
}

/**
 * Whatever keeps it from looking is told as an absence, and tried again: a dead
 * watchman tells nothing. Only a schema it does not know is not cured by waiting.
 */
function isAway(error: unknown): boolean {
  return !(isEscapementError(error) && ["E_STORE_NOT_MIGRATED", "E_STORE_TOO_NEW"].includes(error.code));
}
