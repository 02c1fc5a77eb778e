/** Nobody has held the lease of leadership for a minute: nothing new is planned. */
import { howLong } from "./missing-success.ts";
import { leaderIsAbsent, type Rule } from "./rule.ts";

export const noLeader: Rule = (picture, settings) => {
  if (!leaderIsAbsent(picture, settings)) return [];
  const { leader, now, schedulers } = picture;
  const never = leader.epoch === 0;
  const since = never
    ? "there has never been one"
    : `the lease of ${leader.node ?? "nobody"} ended ${howLong(now.getTime() - leader.expiresAt.getTime())} ago`;
  return [
    {
      rule: "no-leader",
      key: "no-leader",
      severity: "critical",
      message: `no scheduler leads: ${since}`,
      evidence: {
        epoch: leader.epoch,
        lastLeader: leader.node,
        expiresAt: never ? null : leader.expiresAt,
        schedulers: schedulers.map(({ node, stopped, lastSeen }) => ({ node, stopped, lastSeen })),
      },
      cause: "no-leader",
      hint: "escapement status",
    },
  ];
};
