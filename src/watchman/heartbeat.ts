/** Calls somebody outside while passes go well, so that our own death is noticed by someone else. */
import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { monotonicMs } from "../base/monotonic.ts";
import type { WatchDefinition } from "../spec/watch-definition.ts";
import { readSecret, reasonWithout } from "./secret.ts";

type Settings = NonNullable<WatchDefinition["heartbeat"]>;

export class Heartbeat {
  readonly #settings: Settings;
  readonly #log: Log;
  #lastMs = Number.NEGATIVE_INFINITY;
  #failing = false;
  readonly #startedMs = monotonicMs();

  constructor(settings: Settings, log: Log) {
    this.#settings = settings;
    this.#log = log;
  }

  /** Since the last answer, or since there was none. */
  get silentMs(): number {
    return monotonicMs() - Math.max(this.#lastMs, this.#startedMs);
  }

  /** Calls if it is time to. What goes wrong is logged once, not every time. */
  async beat(): Promise<boolean> {
    const { url: place, everyMs, timeoutMs } = this.#settings;
    if (monotonicMs() - this.#lastMs < everyMs) return false;
    const secrets: string[] = [];
    try {
      const url = await readSecret(place);
      secrets.push(url, new URL(url).pathname);
      const response = await fetch(url, {
        method: "POST",
        headers: { "user-agent": "escapement-watchman" },
        redirect: "manual",
        signal: AbortSignal.timeout(timeoutMs),
      });
      await response.body?.cancel();
      if (!response.ok) throw new Error(`HTTP ${response.status}`);
      this.#lastMs = monotonicMs();
      this.#failing = false;
      return true;
    } catch (error) {
      const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
      if (!this.#failing)
        this.#log.warn(
          { reason: reasonWithout(secrets, messageOf(cause)) },
          "the heartbeat was not answered",
        );
      this.#failing = true;
      return false;
    }
  }
}
