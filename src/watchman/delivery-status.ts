/** How the telling goes: what waits for whom, and for how long. */
import type { AcceptedTest, ChannelHealth } from "../store/watch/outbox.ts";
import type { BookAlert } from "./alert.ts";

export interface ChannelStatus {
  readonly name: string;
  /** Rounds in a row that it did not accept. */
  readonly failures: number;
  /** Messages that wait for it, in the store and in the spool. */
  readonly waiting: number;
  /** Null: nothing waits. */
  readonly oldestWaitingMs: number | null;
  /** Given up within a day. */
  readonly refused: number;
  /** Null: there was no test alert that it has accepted. */
  readonly testAcceptedMs: number | null;
}

export interface DeliveryStatus {
  readonly open: readonly BookAlert[];
  /** Messages of the spool that nobody has accepted. */
  readonly spooled: number;
  readonly channels: readonly ChannelStatus[];
  /** Since somebody outside has answered, or since we began to call; null: nobody is called. */
  readonly heartbeatMs: number | null;
}

/** What the store last said. While it is away this stays, and grows older. */
export interface StoreSide {
  readonly health: readonly ChannelHealth[];
  readonly tests: readonly AcceptedTest[];
}

export const nothingKnown: StoreSide = { health: [], tests: [] };

export function channelStatus(
  name: string,
  failures: number,
  { health, tests }: StoreSide,
  spooled: readonly { readonly channel: string; readonly createdAt: Date }[],
  now: Date,
): ChannelStatus {
  const own = health.find(({ channel }) => channel === name);
  const kept = spooled.filter(({ channel }) => channel === name).map(({ createdAt }) => createdAt.getTime());
  const oldest = Math.min(...kept, own?.oldestAt?.getTime() ?? Number.POSITIVE_INFINITY);
  const tested = tests.find(({ channel }) => channel === name)?.acceptedAt;
  return {
    name,
    failures,
    waiting: (own?.pending ?? 0) + kept.length,
    oldestWaitingMs: Number.isFinite(oldest) ? Math.max(0, now.getTime() - oldest) : null,
    refused: own?.failed ?? 0,
    testAcceptedMs: tested ? Math.max(0, now.getTime() - tested.getTime()) : null,
  };
}
