/** What happened to one execution, in the order in which it happened. */
import { formatDuration } from "../../base/duration.ts";
import type { Diagnosis } from "./diagnosis.ts";
import type { Fire } from "./fire.ts";

export function storyOf(fire: Fire, diagnosis: Diagnosis | null, now: Date): string[] {
  const { execution } = fire;
  const verdict = diagnosis
    ? [
        `Verdict: ${diagnosis.class}, ${diagnosis.certain ? "because of" : "likely because of"} ${diagnosis.cause}. ${diagnosis.text}`,
      ]
    : [];
  if (!execution || execution.revokedAt !== null) return verdict;
  return [...verdict, lifeOf(fire, now), ...attemptsOf(fire), ...refusedOf(fire)];
}

function lifeOf({ execution }: Fire, now: Date): string {
  const { plannedAt, openedAt, startedAt, endedAt, status, missedSeconds, runNo, reason, trigger } =
    execution!;
  const parts = [`planned at ${plannedAt.toISOString()}`];
  if (openedAt) parts.push(`opened at ${openedAt.toISOString()}`);
  if (startedAt)
    parts.push(
      `started at ${startedAt.toISOString()}${missedSeconds === null ? "" : `, ${missedSeconds.toFixed(1)} s after its time`}`,
    );
  if (endedAt && startedAt)
    parts.push(
      `ended at ${endedAt.toISOString()} after ${formatDuration(endedAt.getTime() - startedAt.getTime())}`,
    );
  else if (startedAt && !endedAt)
    parts.push(`not ended after ${formatDuration(Math.max(0, now.getTime() - startedAt.getTime()))}`);
  const run = runNo > 1 ? `, run ${runNo}` : "";
  const how = trigger === "schedule" ? "" : trigger === "misfire" ? ", caught up" : ", by hand";
  return `The records: ${status}${run}${how}; ${parts.join("; ")}${reason ? `; reason: ${reason}` : ""}.`;
}

function attemptsOf({ attempts }: Fire): string[] {
  const shown = attempts.slice(-5);
  const left = attempts.length - shown.length;
  return [
    ...(left > 0 ? [`${left} earlier attempt(s) did not succeed either.`] : []),
    ...shown.map(
      ({ shardNo, attempt, node, outcome, endedAt, error }) =>
        `Attempt ${attempt} of shard ${shardNo}${node ? ` on ${node}` : ""} ended at ${endedAt.toISOString()} as ${outcome}${error ? `: ${error}` : ""}.`,
    ),
  ];
}

function refusedOf({ staleWrites }: Fire): string[] {
  return staleWrites
    .slice(0, 5)
    .map(
      ({ at, node, what, shardNo }) =>
        `At ${at.toISOString()} a late ${what} of shard ${shardNo}${node ? ` from ${node}` : ""} was refused.`,
    );
}
