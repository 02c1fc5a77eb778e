/**
 * An order as the host reads it: lines of key=value that a shell can take
 * apart, then a signature over exactly these lines. It holds for one host, one
 * boot and at most 15 minutes of that boot's own clock, which no wrong wall
 * clock touches, and it can be used once.
 */
import { randomBytes } from "node:crypto";
import { EscapementError } from "../../base/errors.ts";
import type { DrillOrder } from "./drill-host.ts";
import type { DrillKey } from "./drill-key.ts";
import { sshSignature } from "./ssh-signature.ts";

const head = "escapement-drill-order 1";
/** A signature for anything else is worth nothing here. */
export const namespace = "escapement-drill";
/** The longest that an order may wait to be begun. */
export const longestOrderMs = 15 * 60_000;
/** Two hosts' clocks do not matter, but a trip does: the order holds from a moment ago. */
const slackMs = 60_000;

export interface OrderTimes {
  /** Milliseconds since the host's boot, as it said a moment ago. */
  readonly bootMs: number;
  /** How long the order may be begun; at most 15 minutes less a minute of slack. */
  readonly validMs: number;
  /** The controller's wall clock, for people. */
  readonly issuedMs: number;
}

/** @throws E_BUG for a value that no order can carry */
export function orderText(
  order: DrillOrder,
  times: OrderTimes,
  nonce = randomBytes(16).toString("hex"),
): string {
  const { run, host, bootId, fault, holdSeconds, limitSeconds } = order;
  const fields: readonly (readonly [string, string | number | boolean | undefined])[] = [
    ["run", run],
    ["host", host],
    ["boot", bootId],
    ["fault", fault],
    ["unit", order.unit],
    ["keepDown", order.keepDown],
    ["direction", order.direction],
    ["keep", order.keep === undefined || order.keep.length === 0 ? undefined : order.keep.join(",")],
    ["offsetSeconds", order.offsetSeconds],
    ["path", order.path],
    ["reserveBytes", order.reserveBytes],
    ["limitBytes", order.limitBytes],
    ["holdSeconds", holdSeconds],
    ["limitSeconds", limitSeconds],
    ["issued", new Date(times.issuedMs).toISOString()],
    ["issuedBootMs", Math.floor(times.bootMs)],
    ["notBeforeBootMs", Math.max(0, Math.floor(times.bootMs) - slackMs)],
    ["expiresBootMs", Math.floor(times.bootMs) + Math.min(times.validMs, longestOrderMs - slackMs)],
    ["nonce", nonce],
  ];
  const lines = fields.flatMap(([key, value]) => (value === undefined ? [] : [line(key, value)]));
  return [head, ...lines, ""].join("\n");
}

function line(key: string, value: string | number | boolean): string {
  const text = String(value);
  const plain = typeof value === "number" ? Number.isSafeInteger(value) : /^[\w.:@/,+-]+$/.test(text);
  if (!plain) throw new EscapementError("E_BUG", { what: `an order with ${key}=${text}` });
  return `${key}=${text}`;
}

/** The order with its signature: what the host reads from its standard input. */
export function signedOrder(text: string, key: DrillKey): string {
  return `${text}${sshSignature(text, key, namespace)}`;
}
