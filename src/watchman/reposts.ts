/** Receivers that forget, such as Alertmanager, are told again and again what is open. */
import type { Log } from "../base/log.ts";
import { monotonicMs } from "../base/monotonic.ts";
import { type BookAlert, messageOfAlert } from "./alert.ts";
import type { Channel } from "./channels/channel.ts";

export class Reposts {
  readonly #channels: ReadonlyMap<string, Channel>;
  readonly #log: Log;
  readonly #lastMs = new Map<string, number>();
  #busy = false;

  constructor(channels: ReadonlyMap<string, Channel>, log: Log) {
    this.#channels = channels;
    this.#log = log;
  }

  /**
   * Posts what is open to every channel whose time has come; while an earlier call is at it, does nothing.
   * @param open asked for each channel anew: one may be slow, and an alert end meanwhile
   */
  async post(open: () => readonly BookAlert[]): Promise<void> {
    if (this.#busy) return;
    this.#busy = true;
    await this.#postAll(open).finally(() => {
      this.#busy = false;
    });
  }

  async #postAll(open: () => readonly BookAlert[]): Promise<void> {
    for (const channel of this.#channels.values()) {
      if (channel.resendEveryMs === undefined) continue;
      const lastMs = this.#lastMs.get(channel.name) ?? Number.NEGATIVE_INFINITY;
      if (monotonicMs() - lastMs < channel.resendEveryMs) continue;
      const told = open().filter((one) => one.channels.includes(channel.name));
      if (told.length === 0) continue;
      const answer = await channel.send(told.map((one) => messageOfAlert(one, "open")));
      if (answer.accepted) this.#lastMs.set(channel.name, monotonicMs());
      else
        this.#log.warn({ channel: channel.name, reason: answer.reason }, "open alerts were not posted again");
    }
  }
}
