/**
 * Who holds the virtual address, as the schedulers' own rows say it. It routes
 * people and decides nothing; two holders mean that the two hosts do not hear
 * each other, and half of the callers reach the wrong one.
 */
import type { Picture, WatchedScheduler } from "../picture.ts";
import type { WatchSettings } from "../settings.ts";
import { howLong } from "./missing-success.ts";
import type { Rule } from "./rule.ts";

/** Two passes are between this and an alert: an address that moves is on one host after the other. */
export const twoVirtualAddressHolders: Rule = (picture, settings) => {
  const holders = freshOf(picture, settings).filter(({ holdsVirtualAddress }) => holdsVirtualAddress);
  if (holders.length < 2) return [];
  const nodes = holders.map(({ node }) => node).sort();
  return [
    {
      rule: "two-virtual-address-holders",
      key: "two-virtual-address-holders",
      severity: "critical",
      message: `${nodes.join(" and ")} hold the virtual address at once: their hosts do not hear each other`,
      evidence: {
        holders: holders.map(({ node, host, virtualAddressSeenAt }) => ({
          node,
          host,
          virtualAddressSeenAt,
        })),
      },
      hint: "journalctl -u keepalived --since -15min",
    },
  ];
};

export const noVirtualAddressHolder: Rule = (picture, settings) => {
  const { virtualAddressHeldAt: heldAt, now } = picture;
  const fresh = freshOf(picture, settings);
  // Without a living scheduler nobody looks; that is said by others.
  if (heldAt === null || fresh.length === 0) return [];
  if (fresh.some(({ holdsVirtualAddress }) => holdsVirtualAddress)) return [];
  const awayMs = now.getTime() - heldAt.getTime();
  if (awayMs < settings.virtualAddressAbsentMs) return [];
  return [
    {
      rule: "no-virtual-address-holder",
      key: "no-virtual-address-holder",
      severity: "warning",
      message: `nobody has been seen to hold the virtual address for ${howLong(awayMs)}: ${fresh.map(({ node }) => node).join(", ")} say that they do not`,
      evidence: { heldAt, looked: fresh.map(({ node, host }) => ({ node, host })) },
      hint: "systemctl status keepalived",
    },
  ];
};

function freshOf(picture: Picture, settings: WatchSettings): readonly WatchedScheduler[] {
  const limit = picture.now.getTime() - settings.virtualAddressFreshMs;
  return picture.schedulers.filter(
    ({ stopped, holdsVirtualAddress, virtualAddressSeenAt }) =>
      !stopped &&
      holdsVirtualAddress !== null &&
      virtualAddressSeenAt !== null &&
      virtualAddressSeenAt.getTime() >= limit,
  );
}
