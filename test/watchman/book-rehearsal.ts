/** A book that passes go through, half a minute apart, without a store or a receiver. */
import type { BookAlert, Observation, Outgoing } from "../../src/watchman/alert.ts";
import { advanceBook, type BookContext } from "../../src/watchman/alert-book.ts";
import { QuietTimes, type Silence } from "../../src/watchman/quiet.ts";

export const start = Date.parse("2026-07-01T00:00:00Z");
const secondMs = 1_000;
export const minuteMs = 60_000;

export function finding(key: string, more: Partial<Observation> = {}): Observation {
  return {
    rule: "late-start",
    key,
    severity: "warning",
    message: `${key} is late.`,
    evidence: {},
    hint: "look",
    ...more,
  };
}

/** A book that passes go through, 30 s apart unless said otherwise. */
export class BookRehearsal {
  book = new Map<string, BookAlert>();
  nowMs = start;
  context: Partial<BookContext> = {};
  silences: Silence[] = [];
  windows = new QuietTimes([]);

  pass(seen: readonly Observation[], more: Partial<BookContext> = {}): string[] {
    const now = new Date(this.nowMs);
    const step = advanceBook(this.book, seen, {
      now,
      complete: true,
      inGrace: false,
      clearAfterMs: 45 * secondMs,
      rules: {},
      routes: [{ match: {}, channels: ["ops"], fallback: ["pager"] }],
      quiet: (alert) => this.windows.reason(alert, this.silences, now),
      ...this.context,
      ...more,
    });
    for (const alert of step.alerts) this.book.set(alert.key, alert);
    for (const key of step.forgotten) this.book.delete(key);
    this.nowMs += 30 * secondMs;
    return step.messages.map(line);
  }

  acknowledge(key: string): void {
    this.book.set(key, { ...this.book.get(key)!, acknowledged: new Date(this.nowMs) });
  }
}

function line({ channel, message }: Outgoing): string {
  return `${channel} ${message.phase} ${message.key} ${message.severity}`;
}
