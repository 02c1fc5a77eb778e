/**
 * Since when nothing was heard of a run's controller. It renews its lease every second, each time for at
 * least the same time, so the end of the lease tells when it did so last. Pure.
 */
import { formatDuration } from "../../base/duration.ts";

/** No controller takes a shorter lease; for a fault that takes the store away it is longer. */
export const leastRunLeaseMs = 30_000;

/** A renewal that waits for a slow store is no silence. */
const hushMs = 5_000;

export interface LeasedRun {
  readonly runId: string;
  readonly drill: string;
  readonly person: string;
  readonly state: string;
  readonly startedAt: Date;
  readonly leaseUntil: Date;
  readonly endedAt: Date | null;
}

/**
 * @param now of the database
 * @returns how long it has been silent, at least; null where it was just heard of, or the run has ended
 */
export function silentForMs(
  { startedAt, leaseUntil, endedAt }: Pick<LeasedRun, "startedAt" | "leaseUntil" | "endedAt">,
  now: Date,
): number | null {
  if (endedAt !== null) return null;
  const lastHeardMs = Math.max(startedAt.getTime(), leaseUntil.getTime() - leastRunLeaseMs);
  const silentMs = now.getTime() - lastHeardMs;
  return silentMs < hushMs ? null : silentMs;
}

/** The run that keeps another from beginning. @param now of the database */
export function busyText(run: LeasedRun, now: Date): string {
  const { drill, runId, person, startedAt, state } = run;
  const silentMs = silentForMs(run, now);
  const silence =
    silentMs === null
      ? ""
      : `; nothing was heard of its controller for ${formatDuration(Math.floor(silentMs / 1_000) * 1_000)} or longer`;
  return `${drill} (${runId}) of ${person} since ${startedAt.toISOString()}, ${state}${silence}`;
}
