/** Executions that began: failed for good, or neither ended nor worked on. */
import type { FireAttempt } from "../../store/diagnose/fire-rows.ts";
import type { Surroundings } from "../../store/diagnose/surroundings.ts";
import { causeOfAttempt, type Heard, isKilled, isRefusedByHost } from "./attempt-cause.ts";
import type { Diagnosis, Evidence } from "./diagnosis.ts";
import { type Fire, shardEvidence } from "./fire.ts";
import { type Reading, reading } from "./reading.ts";
import { verdict } from "./verdict.ts";

/** Started again this often from outside, a shard will hardly come through by itself. */
const reclaimLoop = 2;

export function judgeFailed(fire: Fire): Diagnosis {
  const failed = fire.shards.filter(({ status }) => status === "failed");
  const succeeded = fire.shards.filter(({ status }) => status === "success").length;
  const last = failed
    .map((shard) => lastAttempt(fire.attempts, shard.shardNo))
    .filter((one) => one !== undefined);
  const why = worst(last, failed.map(shardEvidence), fire);
  const count = `${failed.length} of ${fire.shards.length} shard(s) failed for good`;
  const written = proofOfWrites(fire);
  const siblings = succeeded > 0 && fire.shards.length > 1;
  if (written) {
    const both: Reading = { ...why, evidence: [...why.evidence, ...written.evidence] };
    const text = `It failed after it had written something (${written.because}): ${count}; ${why.because}. Look at what is there before it runs again.`;
    return verdict(fire, "partial", both, text, siblings ? { also: ["shard-failed"] } : {});
  }
  if (siblings)
    return verdict(fire, "shard-failed", why, `${count}, ${succeeded} succeeded: ${why.because}.`);
  if (last.length > 0 && last.every(isKilled))
    return verdict(
      fire,
      "interrupted",
      why,
      `It was cut short until its tries were used up: ${why.because}.`,
    );
  return verdict(fire, "shard-failed", why, `${count}: ${why.because}.`);
}

/** Began, has not ended, and nobody who is alive works on it. Null: it goes on. */
export function judgeUnfinished(fire: Fire, { now }: Surroundings): Diagnosis | null {
  const orphan = fire.shards.find(
    ({ status, ownerLeaseUntil }) =>
      status === "running" && ownerLeaseUntil !== null && ownerLeaseUntil < now,
  );
  if (orphan) {
    const because = `executor ${orphan.node} holds shard ${orphan.shardNo}, and its lease ended at ${orphan.ownerLeaseUntil!.toISOString()}`;
    const why = reading("lease-lost", true, because, [shardEvidence(orphan)]);
    return verdict(fire, "interrupted", why, `It began and has not ended: ${because}.`);
  }
  const killed = fire.attempts.filter((attempt) => isKilled(attempt) || isRefusedByHost(attempt));
  if (killed.length === 0) return null;
  const idle = fire.shards.filter(
    (shard) =>
      (shard.status === "pending" || shard.status === "interrupted") &&
      killed.some(({ shardNo }) => shardNo === shard.shardNo),
  );
  const looping = killed.find((attempt) => count(killed, attempt.shardNo) >= reclaimLoop);
  if (idle.length === 0 && !looping) return null;
  const shardNo = idle[0]?.shardNo ?? looping!.shardNo;
  const why = causeOfAttempt(lastAttempt(killed, shardNo)!, fire);
  const times = count(killed, shardNo);
  const text =
    idle.length > 0
      ? `It began and has not ended; nobody works on shard ${shardNo} now: ${why.because}.`
      : `Shard ${shardNo} runs for the ${times + 1}th time, after it was cut short ${times} times: ${why.because}.`;
  return verdict(fire, "interrupted", why, text);
}

function lastAttempt(attempts: readonly FireAttempt[], shardNo: number): FireAttempt | undefined {
  return attempts.findLast((attempt) => attempt.shardNo === shardNo);
}

function count(attempts: readonly FireAttempt[], shardNo: number): number {
  return attempts.filter((attempt) => attempt.shardNo === shardNo).length;
}

/** The cause that most of the shards share; of equally many, the first. */
function worst(last: readonly FireAttempt[], shards: readonly Evidence[], heard: Heard): Reading {
  const readings = last.map((attempt) => causeOfAttempt(attempt, heard));
  if (readings.length === 0) return reading("unknown", false, "no attempt of it is recorded", shards);
  const tally = new Map<string, number>();
  for (const { cause } of readings) tally.set(cause, (tally.get(cause) ?? 0) + 1);
  const most = Math.max(...tally.values());
  const found = readings.find(({ cause }) => tally.get(cause) === most)!;
  const evidence = readings.flatMap((one) => one.evidence);
  return { ...found, evidence: evidence.slice(0, 20) };
}

/** What shows that a failed execution has changed something. */
function proofOfWrites({ shards, attempts, calls }: Fire): { because: string; evidence: Evidence[] } | null {
  const failed = new Set(shards.filter(({ status }) => status === "failed").map(({ shardNo }) => shardNo));
  const rows = [...shards, ...attempts]
    .filter((one) => failed.has(one.shardNo) && (one.rows ?? 0) > 0)
    .map((one) => ({ shardNo: one.shardNo, rows: one.rows! }));
  if (calls && calls.done + calls.inDoubt > 0) {
    const because = `${calls.done} call(s) to the outside are done and ${calls.inDoubt} in doubt`;
    return { because, evidence: [{ from: "external_call", row: { ...calls } }] };
  }
  if (rows.length === 0) return null;
  const most = rows.reduce((one, other) => (other.rows > one.rows ? other : one));
  return {
    because: `shard ${most.shardNo} had reported ${most.rows} row(s)`,
    evidence: shards.filter(({ shardNo }) => shardNo === most.shardNo).map(shardEvidence),
  };
}
