/** What every channel can do: hand messages over, and say whether they were accepted. */
import type { AlertMessage } from "../alert.ts";

/** Many messages told as one, oldest first. */
export interface Digest {
  readonly id: string;
  readonly messages: readonly AlertMessage[];
}

export type Acceptance =
  | { readonly accepted: true }
  | {
      readonly accepted: false;
      /** True: this message will never be accepted as it is; others may be. */
      readonly rejected: boolean;
      /** Without secrets. */
      readonly reason: string;
    };

export interface Channel {
  readonly name: string;
  readonly type: string;
  readonly timeoutMs: number;
  /** True: the receiver keeps alerts by key, so it takes many at once, needs no digest, and wants their ends. */
  readonly keepsState: boolean;
  /** Hands over one message, or several where the receiver keeps state. Never throws. */
  send(messages: readonly AlertMessage[]): Promise<Acceptance>;
  /** Hands over many as one; only where the receiver keeps no state. Never throws. */
  sendDigest?(digest: Digest): Promise<Acceptance>;
  /** How often open alerts are handed over again; absent: once is enough. */
  readonly resendEveryMs?: number;
}

export const accepted: Acceptance = { accepted: true };

/** The headline of a message. */
export function subjectOf(message: AlertMessage): string {
  const words = {
    open: message.severity,
    raised: message.severity,
    escalated: "not acknowledged",
    resolved: "resolved",
    test: "test",
  };
  return `[${words[message.phase]}] ${message.job === undefined ? "" : `${message.job}: `}${message.message}`;
}

/** A message for people, as plain lines. */
export function textOf(message: AlertMessage): string {
  const lines = [
    subjectOf(message),
    `rule ${message.rule}, key ${message.key}`,
    ...(message.fireTime === undefined ? [] : [`fire time ${message.fireTime}`]),
    `since ${message.openedAt}${message.resolvedAt === undefined ? "" : `, until ${message.resolvedAt}`}`,
    ...(message.hint === "" ? [] : [`next: ${message.hint}`]),
  ];
  return lines.join("\n");
}

/** The headline of a digest: how many opened, how many ended, and the worst. */
export function digestSubject({ messages }: Digest): string {
  const worst = messages.some((one) => one.severity === "critical" && one.phase !== "resolved")
    ? "critical"
    : messages.some((one) => one.severity === "warning")
      ? "warning"
      : "info";
  const resolved = messages.filter((one) => one.phase === "resolved").length;
  return `[${worst}] ${messages.length} messages in one: ${messages.length - resolved} about open alerts, ${resolved} about ends`;
}

const linesShown = 50;

export function digestText(digest: Digest): string {
  const { messages } = digest;
  const rest = messages.length - linesShown;
  return [
    digestSubject(digest),
    ...messages.slice(0, linesShown).map((one) => `${one.resolvedAt ?? one.openedAt} ${subjectOf(one)}`),
    ...(rest > 0 ? [`and ${rest} more; escapement alerts list shows all`] : []),
  ].join("\n");
}
