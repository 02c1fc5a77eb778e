/** What is wrong with the telling itself: a channel that accepts nothing, a test alert that did not arrive. */
import type { ChannelHealth } from "../store/watch/outbox.ts";
import type { Observation } from "./alert.ts";

/** Rules that are judged here, for the names of a watch file. */
export const deliveryRules = ["channel-failing", "test-alert-lost"] as const;

/** Waiting is no trouble before this; a receiver may restart. */
const patienceMs = 10 * 60_000;
/** Nor before this many tries. */
const fewestTries = 3;

export function channelObservations(health: readonly ChannelHealth[], now: Date): Observation[] {
  return health.flatMap(
    ({ channel, pending, oldestAt, attempts, lastAcceptedAt, lastError }): Observation[] => {
      if (oldestAt === null || attempts < fewestTries) return [];
      if (now.getTime() - oldestAt.getTime() < patienceMs) return [];
      return [
        {
          rule: "channel-failing",
          key: `channel-failing:${channel}`,
          severity: "critical",
          message: `Channel ${channel} accepts nothing: ${pending} message(s) wait since ${oldestAt.toISOString()}.`,
          evidence: { channel, pending, oldestAt, lastAcceptedAt, lastError },
          hint: `escapement alerts test --watch FILE --channel ${channel}`,
        },
      ];
    },
  );
}
