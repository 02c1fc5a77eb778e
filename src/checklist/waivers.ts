/**
 * Lays waivers beside the answers. The check has run, its verdict stays as it
 * is, and a waiver that covers nothing or no longer holds is a failure of its
 * own: else it would wait for the next fault and hide it.
 */
import { formatInstant } from "../base/instant.ts";
import type { Waiver } from "../spec/load-waivers.ts";
import { longestWaiverMs, samePerson, saysSomething } from "../spec/waiver-schema.ts";
import { showsSomething } from "./doubt.ts";
import type { Scope } from "./item.ts";
import type { ReportItem, ReportResult, ReportWaiver, WaiverProblem } from "./report-schema.ts";
import { type ItemVerdict, worstOf } from "./verdict.ts";

export interface WaiverOutcome {
  readonly items: readonly ReportItem[];
  readonly problems: readonly WaiverProblem[];
  /** Waivers whose answers all pass by now: nothing to waive. */
  readonly notNeeded: readonly Waiver[];
}

export interface WaiverOptions {
  readonly waivers: readonly Waiver[];
  /** By the database's clock where there is one. */
  readonly now: Date;
  /** Numbers of all items there are. */
  readonly known: readonly number[];
  /** False when the run was narrowed to a job: then a scope that is missing says nothing. */
  readonly allScopes: boolean;
}

/** @param items as measured, without waivers */
export function applyWaivers(
  items: readonly ReportItem[],
  { waivers, now, known, allScopes }: WaiverOptions,
): WaiverOutcome {
  const problems: WaiverProblem[] = [];
  const notNeeded: Waiver[] = [];
  const covering = new Map<ReportResult, ReportWaiver>();
  for (const waiver of waivers) {
    const complain = (kind: WaiverProblem["kind"], message: string) =>
      problems.push({ kind, message, item: waiver.item, ...waiver.at });
    const what = `the waiver for item ${waiver.item}, ${scopeText(waiver.scope)}`;
    if (!known.includes(waiver.item)) {
      complain("unknown-item", `${what}: there is no item ${waiver.item}`);
      continue;
    }
    // An item that was not asked says nothing about its waivers, but an expired one is expired.
    const item = items.find(({ number }) => number === waiver.item);
    const results = item?.results.filter(({ scope }) => covers(waiver.scope, scope)) ?? [];
    if (now >= waiver.expires)
      complain(
        "expired",
        `${what} has expired at ${formatInstant(waiver.expires)}; its owner is ${waiver.owner}`,
      );
    else if (now < waiver.created)
      complain(
        "not-begun",
        `${what} says it was accepted in the future, at ${formatInstant(waiver.created)}`,
      );
    else if (item && results.length === 0 && allScopes && !mayBeAmongUnseen(item, waiver))
      complain("unmatched", `${what} fits no answer: nothing is waived by it; take it out`);
    else {
      const open = results.filter(({ verdict }) => isOpen(verdict));
      for (const result of open) covering.set(result, covered(waiver));
      if (results.length > 0 && open.length === 0) notNeeded.push(waiver);
    }
  }
  return {
    items: items.map((item) => {
      const results = item.results.map((result) => {
        const waiver = covering.get(result);
        return waiver ? { ...result, waiver } : result;
      });
      return { ...item, results, verdict: verdictOf(results, now) };
    }),
    problems,
    notNeeded,
  };
}

/**
 * Unknown of the cluster, and not one answer of a job, or of a host: nobody looked at those, and what the waiver is
 * for may be among them. Where there are answers of its kind a name that fits none is a name that there is not.
 */
function mayBeAmongUnseen({ results }: ReportItem, { scope: waived }: Waiver): boolean {
  return (
    results.some(({ scope, verdict }) => scope.kind === "cluster" && verdict === "unknown") &&
    !results.some(({ scope }) => scope.kind === waived.kind)
  );
}

/**
 * What a result counts as at an instant: its waiver may have run out since the
 * report was made. A pass that shows nothing is a claim, and a waiver that no
 * file may hold covers nothing, whoever wrote them into a report.
 */
export function countsAs(result: ReportResult, now: Date): ItemVerdict {
  const { verdict, waiver, evidence } = result;
  if (verdict === "pass" && !evidence.some(showsSomething)) return "unknown";
  if (!waiver || !isOpen(verdict) || waiverFault(waiver) !== undefined) return verdict;
  return now >= new Date(waiver.created) && now < new Date(waiver.expires) ? "waived" : verdict;
}

/** Which rule of waivers it breaks; undefined when none. */
export function waiverFault({ owner, approver, created, expires, reason }: ReportWaiver): string | undefined {
  if (!saysSomething(reason)) return "gives no reason";
  if (!saysSomething(owner)) return "names no owner";
  if (!saysSomething(approver)) return "names nobody who approved it";
  if (samePerson(owner, approver)) return "was approved by its owner";
  const lastsMs = new Date(expires).getTime() - new Date(created).getTime();
  return lastsMs > 0 && lastsMs <= longestWaiverMs ? undefined : "holds for more than 90 days";
}

export function verdictOf(results: readonly ReportResult[], now: Date): ItemVerdict {
  return worstOf(results.map((result) => countsAs(result, now)));
}

/** `cluster`, `host db-1`, `job finance/settlement`. */
export function scopeText(scope: { readonly kind: string; readonly name?: string | undefined }): string {
  return scope.kind === "cluster" || scope.name === undefined ? scope.kind : `${scope.kind} ${scope.name}`;
}

function isOpen(verdict: ItemVerdict): boolean {
  return verdict === "fail" || verdict === "unknown";
}

/** A cluster has one name, so a waiver need not give it. */
function covers(waived: Waiver["scope"], scope: Scope): boolean {
  return waived.kind === scope.kind && (waived.kind === "cluster" || waived.name === scope.name);
}

function covered({ reason, owner, approver, created, expires, ticket, at }: Waiver): ReportWaiver {
  return {
    reason,
    owner,
    approver,
    created: formatInstant(created),
    expires: formatInstant(expires),
    ...(ticket !== undefined && { ticket }),
    file: at.file,
    line: at.line,
  };
}
