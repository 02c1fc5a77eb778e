/**
 * Do the records and the witness tell the same story of each claim? Finds
 * orphan and overlap.
 */
import type { Fault, Obligation, Sighting } from "../history.ts";
import type { Report } from "./finding.ts";
import { type FireEntry, isClosed, type Ledger, type ShardEntry, successOf } from "./ledger.ts";

/** @returns how many overlaps were excused by a fault that left the older process without a supervisor. */
export function checkClaims(ledger: Ledger, report: Report): { overlapsExcused: number } {
  let overlapsExcused = 0;
  const unsupervised = faultsByOwner(ledger.history.faults);
  for (const fire of ledger.fires.values()) {
    const { obligation } = fire;
    if (!obligation || obligation.allowed === "none") continue;
    for (const entry of fire.shards.values()) {
      if (entry.shardNo >= obligation.shardCount) continue;
      const detail = obligation.recordsOnly ? undefined : orphanProblem(ledger, entry, obligation);
      if (detail)
        report({ job: fire.job, fireTime: fire.fireTime, shardNo: entry.shardNo, class: "orphan", detail });
      checkTokens(fire, entry, report);
      overlapsExcused += checkOverlap(ledger, fire, entry, unsupervised, report);
    }
  }
  return { overlapsExcused };
}

function orphanProblem(
  ledger: Ledger,
  entry: ShardEntry,
  { mode, fireTime }: Obligation,
): string | undefined {
  const known = new Map(entry.attempts.map((attempt) => [attempt.fenceToken, attempt.attempt]));
  const stranger = [...entry.effects, ...entry.refusals, ...entry.sightings].find(
    (seen) => known.get(seen.fenceToken) !== seen.attempt,
  );
  if (stranger) {
    const what = "payload" in stranger ? "an effect" : "reason" in stranger ? "a refusal" : "a process";
    return `${what} of attempt ${stranger.attempt}, token ${stranger.fenceToken}, which no record knows`;
  }
  const success = successOf(entry);
  if (success) {
    const backed = entry.effects.some(({ fenceToken }) =>
      mode === "replace" ? fenceToken === success.fenceToken : fenceToken <= success.fenceToken,
    );
    return backed ? undefined : `attempt ${success.attempt} is recorded as a success without its effect`;
  }
  // An attempt that still counts as running is reported as interrupted.
  const open = entry.attempts.some((attempt) => attempt.status === "running");
  if (entry.effects.length === 0 || open || !isClosed(ledger, fireTime)) return undefined;
  return "an effect, but no attempt is recorded as a success";
}

function checkTokens(fire: FireEntry, entry: ShardEntry, report: Report): void {
  for (let i = 1; i < entry.attempts.length; i++) {
    const [older, newer] = [entry.attempts[i - 1]!, entry.attempts[i]!];
    if (older.fenceToken < newer.fenceToken && older.attempt < newer.attempt) continue;
    const detail = `attempts ${older.attempt} and ${newer.attempt} hold tokens ${older.fenceToken} and ${newer.fenceToken}`;
    report({ job: fire.job, fireTime: fire.fireTime, shardNo: entry.shardNo, class: "overlap", detail });
  }
}

type Faults = ReadonlyMap<string, readonly Fault[]>;

function faultsByOwner(faults: readonly Fault[]): Faults {
  const byOwner = new Map<string, Fault[]>();
  for (const fault of faults) {
    for (const owner of fault.unsupervised) byOwner.set(owner, [...(byOwner.get(owner) ?? []), fault]);
  }
  return byOwner;
}

function checkOverlap(
  ledger: Ledger,
  fire: FireEntry,
  entry: ShardEntry,
  faults: Faults,
  report: Report,
): number {
  const { overlapMs } = ledger.history.limits;
  const lives = [...entry.sightings].sort((a, b) =>
    a.from < b.from ? -1 : a.from > b.from ? 1 : a.seq - b.seq,
  );
  let excused = 0;
  // Those that may still be alive when the next one begins: hardly ever more than one.
  let alive: Sighting[] = [];
  for (const life of lives) {
    alive = alive.filter((older) => endMs(older) > Date.parse(life.from));
    for (const older of alive) {
      const ms = sharedMs(older, life);
      if (ms <= overlapMs) continue;
      if (fire.obligation?.fenceOnly || isExcused(ledger, entry, older, life, faults)) {
        excused++;
        continue;
      }
      const shared = Number.isFinite(ms) ? `${ms} ms` : "to the end";
      const detail = `attempts ${older.attempt} and ${life.attempt} were alive together (${shared})`;
      report({ job: fire.job, fireTime: fire.fireTime, shardNo: entry.shardNo, class: "overlap", detail });
    }
    alive.push(life);
  }
  return excused;
}

/**
 * Nobody could kill the process of the older claim when both began to be alive, and it was dead soon after
 * somebody could. It may be the one heard of last: frozen before its first word, it says that when it thaws.
 *
 * @param first heard of before `second`; which claim is the older one is for their tokens to say
 */
function isExcused(
  ledger: Ledger,
  entry: ShardEntry,
  first: Sighting,
  second: Sighting,
  faults: Faults,
): boolean {
  const older = first.fenceToken <= second.fenceToken ? first : second;
  const owner = entry.attempts.find((attempt) => attempt.fenceToken === older.fenceToken)?.owner;
  const { killGraceMs } = ledger.history.limits;
  const begun = Date.parse(second.from);
  return (faults.get(owner ?? "") ?? []).some((fault) => {
    const until = (fault.until === null ? Number.POSITIVE_INFINITY : Date.parse(fault.until)) + killGraceMs;
    return fault.proven && Date.parse(fault.at) <= begun && begun <= until && endMs(older) <= until;
  });
}

/** How long two lived together, the second of which began later. */
function sharedMs(first: Sighting, second: Sighting): number {
  return Math.min(endMs(first), endMs(second)) - Date.parse(second.from);
}

function endMs(life: Sighting): number {
  return life.until === null ? Number.POSITIVE_INFINITY : Date.parse(life.until);
}
