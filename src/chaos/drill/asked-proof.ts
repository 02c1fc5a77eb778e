/** Which proofs of a drill are asked for in this run: a virtual address can only move where it is. Pure. */
import type { DrillProof } from "../../spec/drill-definition.ts";
import { holds } from "./evidence.ts";
import type { WatchedHost } from "./watched-host.ts";

export interface AskedProofs {
  readonly asked: readonly DrillProof[];
  /** Why one is not asked for, in words. */
  readonly spared: readonly string[];
}

/**
 * keepalived follows readiness, and a standby is ready, too: the leader's host need not have the address.
 * Where nobody has it, its move is asked for all the same: something is wrong, and cannot be called proven.
 * @param address the cluster's; undefined: it has none
 */
export function askedProofs(
  wanted: readonly DrillProof[],
  address: string | undefined,
  target: WatchedHost,
  others: readonly WatchedHost[],
): AskedProofs {
  const moves = ({ see }: DrillProof) => see === "address-moved";
  if (!wanted.some(moves)) return { asked: wanted, spared: [] };
  const why = whyNotAsked(address, target, others);
  if (why === undefined) return { asked: wanted, spared: [] };
  return { asked: wanted.filter((one) => !moves(one)), spared: [why] };
}

function whyNotAsked(
  address: string | undefined,
  target: WatchedHost,
  others: readonly WatchedHost[],
): string | undefined {
  if (address === undefined) return "the cluster has no virtual address: its move is not asked for";
  if (holds(target.first, address)) return undefined;
  const holder = others.find(({ first }) => holds(first, address));
  return (
    holder &&
    `the virtual address ${address} is on ${holder.name}, not on ${target.name}: its move is not asked for`
  );
}
