/** The alert of the timetable: through the outbox and every channel, to know that they still work. */
import { compileSchedule } from "../schedule/compile.ts";
import type { Schedule } from "../schedule/schedule.ts";
import type { WatchDefinition } from "../spec/watch-definition.ts";
import type { UnacceptedTest } from "../store/watch/outbox.ts";
import {
  type AlertMessage,
  type BookAlert,
  messageOfAlert,
  type Observation,
  type Outgoing,
} from "./alert.ts";

const rule = "test-alert";

export class TestAlerts {
  readonly #schedule: Schedule;
  readonly #withinMs: number;
  readonly #channels: readonly string[];

  constructor(settings: NonNullable<WatchDefinition["testAlert"]>, channels: readonly string[]) {
    this.#schedule = compileSchedule({ cron: settings.cron, zone: settings.zone });
    this.#withinMs = settings.withinMs;
    this.#channels = channels;
  }

  /** The test that is due now, or undefined. Asking again gives the same one, which is queued once. */
  due(now: Date): { readonly alert: BookAlert; readonly messages: readonly Outgoing[] } | undefined {
    const fireMs = this.#schedule.previous(now.getTime() + 1);
    if (fireMs === null || now.getTime() - fireMs > this.#withinMs) return undefined;
    const alert = testAlert(new Date(fireMs), this.#channels);
    const message = testMessage(alert);
    return { alert, messages: this.#channels.map((channel) => ({ channel, fallback: [], message })) };
  }

  /** What is wrong with tests whose time is over. */
  lost(unaccepted: readonly UnacceptedTest[], now: Date): Observation[] {
    return unaccepted
      .filter((one) => now.getTime() - one.createdAt.getTime() >= this.#withinMs)
      .map((one) => ({
        rule: "test-alert-lost",
        key: `test-alert-lost:${one.channel}`,
        severity: "critical",
        message: `The test alert of ${one.createdAt.toISOString()} was not accepted by channel ${one.channel}.`,
        evidence: {
          channel: one.channel,
          queuedAt: one.createdAt,
          attempts: one.attempts,
          reason: one.lastError,
        },
        hint: `escapement alerts test --watch FILE --channel ${one.channel}`,
      }));
  }
}

/** It is over as it begins: it is never open, and nobody need acknowledge it. */
function testAlert(at: Date, channels: readonly string[]): BookAlert {
  return {
    rule,
    key: `${rule}:${at.toISOString()}`,
    severity: "info",
    message: "This is a test: alerts reach you.",
    evidence: {},
    hint: "nothing to do",
    watched: true,
    episode: 1,
    firstSeen: at,
    lastSeen: at,
    opened: at,
    resolved: at,
    acknowledged: null,
    escalated: null,
    told: at,
    toldSeverity: "info",
    quiet: null,
    channels,
  };
}

function testMessage(alert: BookAlert): AlertMessage {
  // A receiver that keeps state would say nothing about what is over.
  return messageOfAlert({ ...alert, resolved: null }, "test");
}

/** A test by hand. @param at now */
export function testByHand(at: Date): AlertMessage {
  return testMessage(testAlert(at, []));
}
