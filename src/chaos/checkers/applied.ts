/**
 * Was each effect applied once, and in the order of the claims? Finds
 * duplicate and stale.
 *
 * Order is the witness's order of commit, never a wall clock. A sighting
 * counts as proof that its token had been granted by then.
 */
import type { Obligation } from "../history.ts";
import type { Report } from "./finding.ts";
import type { FireEntry, Ledger, ShardEntry } from "./ledger.ts";

export function checkApplied(ledger: Ledger, report: Report): void {
  for (const fire of ledger.fires.values()) {
    const { obligation } = fire;
    if (!obligation || obligation.allowed === "none") continue;
    for (const entry of fire.shards.values()) {
      if (entry.shardNo >= obligation.shardCount) continue;
      const detail = duplicateProblem(entry, obligation);
      if (detail)
        report({
          job: fire.job,
          fireTime: fire.fireTime,
          shardNo: entry.shardNo,
          class: "duplicate",
          detail,
        });
      checkStale(fire, entry, report);
    }
  }
  checkPeriods(ledger, report);
}

function duplicateProblem(
  { attempts, effects, sightings }: ShardEntry,
  { mode }: Obligation,
): string | undefined {
  const successes = attempts.filter((attempt) => attempt.status === "success");
  if (successes.length > 1) return `${successes.length} attempts are recorded as a success`;
  // Also where the receiver refused the repeat, or the repeat was killed in time.
  const done = successes[0]?.fenceToken ?? Number.POSITIVE_INFINITY;
  const again = [...attempts, ...effects, ...sightings].find((claim) => claim.fenceToken > done);
  if (again) return `token ${again.fenceToken} ran it again after token ${done} was recorded as a success`;
  if (effects.length < 2) return undefined;
  if (mode === "once") return `${effects.length} effects were accepted`;
  const tokens = new Set(effects.map((effect) => effect.fenceToken));
  if (tokens.size < effects.length) return "one claim applied its effect more than once";
  if (new Set(effects.map((effect) => effect.payload)).size > 1)
    return "the repeat changed the result, so it is not a recomputation";
  return undefined;
}

function checkStale(fire: FireEntry, entry: ShardEntry, report: Report): void {
  let newest = -1;
  let nextSighting = 0;
  for (const effect of entry.effects) {
    for (
      let seen = entry.sightings[nextSighting];
      seen && seen.seq < effect.seq;
      seen = entry.sightings[++nextSighting]
    )
      newest = Math.max(newest, seen.fenceToken);
    if (effect.fenceToken < newest) {
      const detail = `token ${effect.fenceToken} was accepted after token ${newest} had been seen`;
      report({ job: fire.job, fireTime: fire.fireTime, shardNo: entry.shardNo, class: "stale", detail });
    }
    newest = Math.max(newest, effect.fenceToken);
  }
}

/** A business period is paid once, whatever fires it. */
function checkPeriods(ledger: Ledger, report: Report): void {
  const paidBy = new Map<string, string>();
  for (const fire of ledger.fires.values()) {
    const period = fire.obligation?.period;
    if (period === undefined || fire.obligation?.allowed === "none") continue;
    for (const { shardNo, effects } of fire.shards.values()) {
      if (effects.length === 0) continue;
      const key = `${fire.job} ${period} ${shardNo}`;
      const other = paidBy.get(key);
      paidBy.set(key, fire.fireTime);
      if (other === undefined) continue;
      const detail = `period ${period} was already done by the fire of ${other}`;
      report({ job: fire.job, fireTime: fire.fireTime, shardNo, class: "duplicate", detail });
    }
  }
}
