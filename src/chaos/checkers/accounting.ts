/**
 * Is every obligation accounted for? Finds lost, partial, interrupted and
 * unexpected.
 *
 * A fire that still runs after the cluster came to rest is interrupted, and is
 * then not counted as lost as well.
 */
import type { ExecutionRecord, Obligation } from "../history.ts";
import type { Report } from "./finding.ts";
import { type FireEntry, isClosed, type Ledger, successOf } from "./ledger.ts";

const unfinished = new Set(["planned", "pending", "running", "interrupted"]);

export function checkAccounting(ledger: Ledger, report: Report): void {
  for (const fire of ledger.fires.values()) {
    const { obligation } = fire;
    if (obligation) {
      reportStrangeShards(fire, obligation, report);
      if (fire.executions.length > 1)
        report({
          ...at(fire),
          class: "unexpected",
          detail: `${fire.executions.length} executions of one fire`,
        });
    }
    if (!obligation) reportStrangeFire(fire, report);
    else if (obligation.allowed === "none") checkNone(ledger, fire, obligation, report);
    else if (isClosed(ledger, fire.fireTime)) {
      if (!reportUnfinished(fire, report)) checkDue(ledger, fire, obligation, report);
    }
  }
}

function at(fire: FireEntry) {
  return { job: fire.job, fireTime: fire.fireTime };
}

function reportStrangeFire(fire: FireEntry, report: Report): void {
  let told = false;
  for (const { shardNo, effects, attempts, sightings } of fire.shards.values()) {
    const what =
      effects.length > 0
        ? "an effect"
        : attempts.length > 0
          ? "an attempt"
          : sightings.length > 0
            ? "a process"
            : undefined;
    if (!what) continue;
    report({ ...at(fire), shardNo, class: "unexpected", detail: `${what} of a fire that nothing obliged` });
    told = true;
  }
  if (!told && fire.executions.length > 0)
    report({ ...at(fire), class: "unexpected", detail: "an execution of a fire that nothing obliged" });
}

function reportStrangeShards(fire: FireEntry, { shardCount }: Obligation, report: Report): void {
  for (const { shardNo } of fire.shards.values()) {
    if (shardNo >= shardCount)
      report({
        ...at(fire),
        shardNo,
        class: "unexpected",
        detail: `the fire has ${shardCount} shard(s), numbered from 0`,
      });
  }
}

/** `missed` is the business of the misfire checker, except that it, too, must not vanish. */
function checkNone(ledger: Ledger, fire: FireEntry, { because }: Obligation, report: Report): void {
  if (because === "missed") return;
  for (const entry of fire.shards.values()) {
    if (entry.effects.length + entry.attempts.length + entry.sightings.length > 0)
      report({
        ...at(fire),
        shardNo: entry.shardNo,
        class: "unexpected",
        detail: `ran although the fire was ${because}`,
      });
  }
  if (
    because === "blocked" &&
    ledger.executionsKnown &&
    isClosed(ledger, fire.fireTime) &&
    !explained(fire.executions[0])
  )
    report({ ...at(fire), class: "lost", detail: "blocked, but no record says so with a reason" });
}

function reportUnfinished(fire: FireEntry, report: Report): boolean {
  let told = false;
  for (const entry of fire.shards.values()) {
    const open = entry.attempts.find((attempt) => attempt.status === "running");
    if (!open) continue;
    const detail = `attempt ${open.attempt} is recorded as running after everything came to rest`;
    report({ ...at(fire), shardNo: entry.shardNo, class: "interrupted", detail });
    told = true;
  }
  const status = fire.executions[0]?.status;
  if (!told && status && unfinished.has(status)) {
    report({ ...at(fire), class: "interrupted", detail: `the execution is still ${status}` });
    told = true;
  }
  return told;
}

function checkDue(ledger: Ledger, fire: FireEntry, obligation: Obligation, report: Report): void {
  const missing: number[] = [];
  for (let shardNo = 0; shardNo < obligation.shardCount; shardNo++) {
    const entry = fire.shards.get(shardNo);
    // A success without its effect is an orphan, found elsewhere.
    if (!entry || (entry.effects.length === 0 && !successOf(entry))) missing.push(shardNo);
  }
  if (missing.length === 0) return;
  if (missing.length < obligation.shardCount) {
    if (isCancelled(fire, obligation) || isFailure(fire, obligation)) return;
    const detail = `no effect of shard(s) ${abbreviate(missing)} of ${obligation.shardCount}`;
    report({ ...at(fire), class: "partial", detail });
  } else {
    const detail = lossProblem(ledger, fire, obligation);
    if (detail) report({ ...at(fire), class: "lost", detail });
  }
}

/** A run that was cut short on purpose may leave some of its shards undone. */
function isCancelled({ executions }: FireEntry, { allowed }: Obligation): boolean {
  return allowed === "at-most-one" && executions[0]?.status === "cancelled" && explained(executions[0]);
}

/** A job of somebody else's that failed, and says so, has failed for reasons of its own. */
function isFailure({ executions }: FireEntry, { recordsOnly }: Obligation): boolean {
  return recordsOnly === true && executions[0]?.status === "failed" && explained(executions[0]);
}

function lossProblem(
  ledger: Ledger,
  { executions }: FireEntry,
  { allowed, misfire }: Obligation,
): string | undefined {
  const execution = executions[0];
  if (allowed === "at-most-one") {
    if (!ledger.executionsKnown || explained(execution)) return undefined;
    return "no effect, and no record that says why";
  }
  // Skipping a fire that had to run is a mishandled misfire, found elsewhere.
  if (misfire?.policy === "run-now" && execution?.status === "missed") return undefined;
  return `no effect; execution: ${execution?.status ?? "none recorded"}`;
}

/** A row that accounts for a fire without effect: it ended, and says why. */
function explained(execution: ExecutionRecord | undefined): boolean {
  return (
    execution !== undefined &&
    ["missed", "blocked", "cancelled", "failed"].includes(execution.status) &&
    Boolean(execution.reason)
  );
}

function abbreviate(numbers: readonly number[]): string {
  const shown = numbers.slice(0, 8).join(", ");
  return numbers.length > 8 ? `${shown}, … (${numbers.length})` : shown;
}
