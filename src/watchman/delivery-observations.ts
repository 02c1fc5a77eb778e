/** What is wrong with the telling itself: a channel that accepts nothing, a test alert that did not arrive. */
import type { ChannelHealth } from "../store/watch/outbox.ts";
import type { Observation } from "./alert.ts";

/** Rules that are judged here, for the names of a watch file. */
export const deliveryRules = ["channel-failing", "message-refused", "test-alert-lost"] as const;

/** Waiting is no trouble before this; a receiver may restart. */
const patienceMs = 10 * 60_000;
/** Nor before this many tries. */
const fewestTries = 3;

export function channelObservations(health: readonly ChannelHealth[], now: Date): Observation[] {
  const found: Observation[] = [];
  for (const { channel, pending, failed, oldestAt, attempts, lastAcceptedAt, lastError } of health) {
    const hint = `escapement alerts test --watch FILE --channel ${channel}`;
    if (oldestAt !== null && attempts >= fewestTries && now.getTime() - oldestAt.getTime() >= patienceMs)
      found.push({
        rule: "channel-failing",
        key: `channel-failing:${channel}`,
        severity: "critical",
        message: `Channel ${channel} accepts nothing: ${pending} message(s) wait since ${oldestAt.toISOString()}.`,
        evidence: { channel, pending, oldestAt, lastAcceptedAt, lastError },
        hint,
      });
    if (failed > 0)
      found.push({
        rule: "message-refused",
        key: `message-refused:${channel}`,
        severity: "warning",
        message: `Channel ${channel} was not told of ${failed} message(s): they were refused, or waited too long.`,
        evidence: { channel, failed, lastError },
        hint: "escapement alerts list --all",
      });
  }
  return found;
}
