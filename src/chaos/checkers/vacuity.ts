/**
 * Does a clean result mean anything? Collects the reasons why it does not. Any
 * reason makes the verdict unknown instead of pass.
 */
import { fireKey, type Obligation } from "../history.ts";
import { isClosed, type Ledger } from "./ledger.ts";

/** @returns one sentence a reason; empty if a clean result is a pass. */
export function vacuityReasons(ledger: Ledger): string[] {
  const { history } = ledger;
  const { requirements, faults, obligations } = history;
  const reasons: string[] = [];
  if (!history.settled) reasons.push("the cluster had not come to rest when the records were read");
  if (obligations.every((item) => item.allowed === "none" || item.recordsOnly))
    reasons.push("nothing was obliged to run");
  else if (history.effects.length === 0) reasons.push("the witness saw no effect at all");
  if (history.settled) {
    // What was taken back never comes due.
    const open = obligations.filter(
      (o) => o.because !== "revoked" && !o.recordsOnly && !isClosed(ledger, o.fireTime),
    ).length;
    if (open > 0) reasons.push(`${open} fire(s) came due too close to the final read to be judged`);
  }
  for (const kind of requirements.faultKinds) {
    if (!faults.some((fault) => fault.kind === kind && fault.proven))
      reasons.push(`no proven fault of kind ${kind}`);
  }
  for (const phase of requirements.phases) {
    if (!faults.some((fault) => fault.phase === phase && fault.proven))
      reasons.push(`no proven fault in phase ${phase}`);
  }
  const unproven = faults.filter((fault) => !fault.proven).length;
  if (unproven > 0) reasons.push(`${unproven} fault(s) were not proven to be in effect`);
  const inFault = countObligationsInFault(ledger);
  if (inFault < requirements.obligationsInFault)
    reasons.push(`${inFault} fire(s) came due during a fault; ${requirements.obligationsInFault} are needed`);
  const hit = faults.reduce((sum, fault) => sum + (fault.proven ? fault.attemptsHit : 0), 0);
  if (hit < requirements.attemptsHit)
    reasons.push(`${hit} attempt(s) were hit by a fault; ${requirements.attemptsHit} are needed`);
  const witnessed = history.refusals.filter((refusal) => refusal.reason === "stale").length;
  const refused = witnessed + (history.storeRefusals ?? 0);
  if (refused < requirements.refusals)
    reasons.push(`${refused} stale write(s) were refused; ${requirements.refusals} are needed`);
  return reasons;
}

/** Fires that had to run, or did though they need not have, and whose time lies inside a proven fault. */
export function countObligationsInFault(ledger: Ledger): number {
  const { faults, obligations, readAt } = ledger.history;
  const spans = mergeSpans(
    faults.filter((fault) => fault.proven).map((fault): Span => [fault.at, fault.until ?? readAt]),
  );
  const times = obligations
    .filter((item) => item.allowed !== "none" && !item.recordsOnly)
    .filter((item) => item.allowed === "exactly-one" || wasRun(ledger, item))
    .map((item) => item.fireTime)
    .sort();
  let inside = 0;
  let i = 0;
  for (const time of times) {
    while (i < spans.length && spans[i]![1] < time) i++;
    if (i < spans.length && spans[i]![0] <= time) inside++;
  }
  return inside;
}

/** What was cancelled or skipped before it began tells nothing about the fault. */
function wasRun({ fires }: Ledger, of: Obligation): boolean {
  const shards = fires.get(fireKey(of))?.shards.values() ?? [];
  return [...shards].some(({ attempts, effects }) => attempts.length + effects.length > 0);
}

type Span = [from: string, until: string];

function mergeSpans(spans: Span[]): Span[] {
  const merged: Span[] = [];
  for (const span of spans.sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0))) {
    const last = merged.at(-1);
    if (last && span[0] <= last[1]) last[1] = laterOf(last[1], span[1]);
    else merged.push([...span]);
  }
  return merged;
}

function laterOf(a: string, b: string): string {
  return [a, b].sort()[1]!;
}
