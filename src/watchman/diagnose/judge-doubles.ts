/** Second writers of one fire: refused by the fence, run by hand besides, or repeated at a receiver. */
import type { Diagnosis } from "./diagnosis.ts";
import { executionEvidence, type Fire, staleEvidence } from "./fire.ts";
import { type Reading, reading } from "./reading.ts";
import { verdict } from "./verdict.ts";

/** Writes that end an attempt; a late checkpoint alone has changed nothing outside. */
export function judgeDoubles(fire: Fire): Diagnosis | null {
  if (fire.calls && fire.calls.repeated > 0) {
    const because = `${fire.calls.repeated} call(s) were repeated at a receiver that does not recognise a repeat`;
    const why = reading("unrepeatable-call", false, because, [
      { from: "external_call", row: { ...fire.calls } },
    ]);
    return verdict(fire, "duplicate", why, `Its effect may be there twice: ${because}.`);
  }
  const late = fire.staleWrites;
  if (late.length > 0) {
    const why = staleCause(fire);
    const text = `Two executors worked on the same shard at once: ${why.because}. The record was kept by the fence (${late.length} write(s) refused); what the job itself wrote without a fence may be there twice.`;
    return verdict(fire, "duplicate", why, text);
  }
  const twin = fire.twins[0];
  if (twin && fire.execution?.status === "success") {
    const because = `a run by hand at ${twin.fireTime.toISOString()} succeeded besides this one`;
    const why = reading("manual-run", true, because, fire.twins.map(executionEvidence));
    const text = `It was done twice: ${because}, and the job declares no period that would have kept it out.`;
    return verdict(fire, "duplicate", why, text, { intended: true });
  }
  return null;
}

function staleCause({ staleWrites, attempts }: Fire): Reading {
  const first = staleWrites[0]!;
  const evidence = staleWrites.slice(0, 20).map(staleEvidence);
  const who = first.node ?? "an executor";
  const stopped = attempts.some(
    ({ shardNo, outcome, node }) =>
      shardNo === first.shardNo && outcome === "interrupted" && node === first.node,
  );
  if (first.lost === "interrupted" || (first.lost === null && stopped))
    return reading(
      "deploy-overlap",
      true,
      `${who} had been told to stop and given shard ${first.shardNo} back, and wrote at ${first.at.toISOString()} all the same`,
      evidence,
    );
  return reading(
    "lease-lost",
    true,
    `${who} had lost its lease and wrote shard ${first.shardNo} at ${first.at.toISOString()}`,
    evidence,
  );
}
