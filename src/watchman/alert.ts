/** An alert as the book keeps it, and the messages that go out about it. */
import type { Severity } from "./finding.ts";

/** What a pass has seen: a finding, or what somebody has noted in the store. */
export interface Observation {
  readonly rule: string;
  readonly key: string;
  readonly severity: Severity;
  readonly jobId?: number;
  readonly job?: string;
  readonly fireTime?: Date;
  readonly message: string;
  readonly evidence: Readonly<Record<string, unknown>>;
  readonly cause?: string;
  readonly hint: string;
  /** Noted by another process: it alerts at once and has no end that anybody sees. */
  readonly noted?: boolean;
}

export interface BookAlert extends Omit<Observation, "noted"> {
  /** False: another process has noted it. */
  readonly watched: boolean;
  /** Grows when the same trouble comes back after its end. */
  readonly episode: number;
  readonly firstSeen: Date;
  readonly lastSeen: Date;
  /** Null: seen, but not for long enough. */
  readonly opened: Date | null;
  readonly resolved: Date | null;
  readonly acknowledged: Date | null;
  readonly escalated: Date | null;
  /** When somebody was told, and how bad it was then; null: nobody was. */
  readonly told: Date | null;
  readonly toldSeverity: Severity | null;
  /** Why nobody is told, where that is so. */
  readonly quiet: string | null;
  /** Everyone who was told in this episode. */
  readonly channels: readonly string[];
}

export type Phase = "open" | "raised" | "escalated" | "resolved" | "test";

/** What a receiver gets. Plain JSON: instants are RFC 3339 in UTC. */
export interface AlertMessage {
  /** The same for every try, so that a receiver can drop a repeat. */
  readonly id: string;
  readonly phase: Phase;
  /** The same for as long as the trouble lasts, over all its messages. */
  readonly key: string;
  readonly episode: number;
  readonly rule: string;
  readonly severity: Severity;
  readonly job?: string;
  readonly fireTime?: string;
  readonly message: string;
  readonly evidence: Readonly<Record<string, unknown>>;
  readonly cause?: string;
  readonly hint: string;
  readonly openedAt: string;
  readonly resolvedAt?: string;
  /** False: nobody sees its end, so none is told. */
  readonly watched: boolean;
}

/** A message on its way to one channel. */
export interface Outgoing {
  readonly channel: string;
  readonly fallback: readonly string[];
  readonly message: AlertMessage;
}

export function messageOfAlert(alert: BookAlert, phase: Phase): AlertMessage {
  return {
    // Not the episode: who works from the spool does not know how many there were.
    id: `${alert.key}@${alert.firstSeen.toISOString()}:${phase}${phase === "raised" ? `-${alert.severity}` : ""}`,
    phase,
    key: alert.key,
    episode: alert.episode,
    rule: alert.rule,
    severity: alert.severity,
    ...(alert.job !== undefined && { job: alert.job }),
    ...(alert.fireTime !== undefined && { fireTime: alert.fireTime.toISOString() }),
    message: alert.message,
    evidence: alert.evidence,
    ...(alert.cause !== undefined && { cause: alert.cause }),
    hint: alert.hint,
    openedAt: (alert.opened ?? alert.firstSeen).toISOString(),
    ...(alert.resolved !== null && { resolvedAt: alert.resolved.toISOString() }),
    watched: alert.watched,
  };
}

/** That it was seen again is no news. */
export function isNews(before: BookAlert | undefined, alert: BookAlert): boolean {
  const plain = (one: BookAlert) => JSON.stringify({ ...one, lastSeen: null, evidence: null, message: null });
  return before === undefined || plain(before) !== plain(alert);
}
