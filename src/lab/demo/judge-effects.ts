/** Judges what the jobs changed, against what they were to change: payouts and snapshots. Pure. */
import { formatInstant } from "../../base/instant.ts";
import type { Finding } from "./finding.ts";
import type { JudgedFire } from "./judge-fires.ts";
import type { SnapshotRow } from "./ledger.ts";
import { formatPence, sumPence } from "./money.ts";
import type { Person } from "./payment.ts";
import type { AcceptedPayout } from "./payout-endpoint.ts";

export interface PayoutSummary {
  readonly due: number;
  readonly duePence: number;
  readonly received: number;
  readonly receivedPence: number;
}

/** Every person once for every fire that ran, with the right amount, and nothing else. */
export function judgePayouts(
  fires: readonly JudgedFire[],
  people: readonly Person[],
  accepted: readonly AcceptedPayout[],
): PayoutSummary & { findings: Finding[] } {
  const findings: Finding[] = [];
  const received = new Map<string, AcceptedPayout[]>();
  const keyOf = (fireMs: number, person: string) => `${fireMs} ${person}`;
  for (const payout of accepted) {
    const key = keyOf(payout.fireMs, payout.person);
    received.set(key, [...(received.get(key) ?? []), payout]);
  }
  const paid = fires.filter((fire) => fire.outcome !== "missed");
  for (const { expected } of paid) {
    const at = formatInstant(new Date(expected.fireMs));
    for (const { person, bonusPence } of people) {
      const key = keyOf(expected.fireMs, person);
      const payouts = received.get(key) ?? [];
      received.delete(key);
      if (payouts.length === 0)
        findings.push({ kind: "lost", what: `${person} was not paid the bonus of ${at}` });
      if (payouts.length > 1)
        findings.push({
          kind: "doubled",
          what: `${person} was paid the bonus of ${at} ${payouts.length} times`,
        });
      for (const wrong of payouts.filter(({ pence }) => pence !== bonusPence)) {
        const amounts = `${formatPence(wrong.pence)} instead of ${formatPence(bonusPence)}`;
        findings.push({ kind: "wrong", what: `${person} was paid ${amounts} at ${at}` });
      }
    }
  }
  for (const [payout] of received.values()) {
    const at = formatInstant(new Date(payout!.fireMs));
    findings.push({ kind: "unexpected", what: `${payout!.person} was paid for ${at}, which was not due` });
  }
  return {
    due: paid.length * people.length,
    duePence: paid.length * sumPence(people.map((person) => person.bonusPence)),
    received: accepted.length,
    receivedPence: sumPence(accepted.map((payout) => payout.pence)),
    findings,
  };
}

/** One snapshot for each fire that ran, none for the others. @param fires of the jobs that take snapshots */
export function judgeSnapshots(
  fires: readonly JudgedFire[],
  snapshots: readonly SnapshotRow[],
): { due: number; taken: number; findings: Finding[] } {
  const findings: Finding[] = [];
  const counts = new Map(snapshots.map(({ job, fireMs, count }) => [`${job} ${fireMs}`, count]));
  let due = 0;
  for (const { expected, outcome } of fires) {
    const key = `${expected.job} ${expected.fireMs}`;
    const count = counts.get(key) ?? 0;
    counts.delete(key);
    // What has not ended may or may not have written.
    if (outcome === "unsettled" || outcome === "lost") continue;
    const wanted = outcome === "missed" ? 0 : 1;
    due += wanted;
    const what = `the snapshot of ${expected.job} at ${formatInstant(new Date(expected.fireMs))}`;
    if (count < wanted) findings.push({ kind: "lost", what: `${what} is not there` });
    else if (count > wanted && wanted === 1)
      findings.push({ kind: "doubled", what: `${what} is there ${count} times` });
    else if (count > wanted)
      findings.push({ kind: "unexpected", what: `${what} is there, and the fire was missed` });
  }
  for (const [key] of counts)
    findings.push({ kind: "unexpected", what: `there is a snapshot ${key}, never due` });
  return { due, taken: sumPence(snapshots.map((row) => row.count)), findings };
}
