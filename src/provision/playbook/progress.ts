/** What a journal says about its latest run. */
import { EscapementError } from "../../base/errors.ts";
import type { JournalEntry } from "./journal.ts";

export interface Progress {
  readonly run: string;
  readonly digest: string;
  readonly targets: readonly string[];
  /** Digest of the hosts that it was begun with; undefined in a journal of an older version. */
  readonly inventory: string | undefined;
  /** Units (step and host) that need not be done again. */
  readonly settled: ReadonlySet<string>;
  /** Units whose action was begun and not taken back, in that order. */
  readonly acted: readonly { readonly step: string; readonly host: string }[];
  /** Undefined: cut short without a word. */
  readonly outcome: "done" | "failed" | "interrupted" | "undone" | undefined;
}

export function unitKey(step: string, host: string): string {
  return `${step} ${host}`;
}

/** The latest run of a journal, or undefined where there was none. */
export function latestRun(entries: readonly JournalEntry[]): Progress | undefined {
  const begin = entries.findLast((entry) => entry.event === "begin");
  if (begin?.event !== "begin") return undefined;
  const own = entries.filter((entry) => entry.run === begin.run);
  const settled = new Set<string>();
  const acted = new Map<string, { step: string; host: string }>();
  for (const entry of own) {
    if (entry.event === "begin" || entry.event === "finish") continue;
    const key = unitKey(entry.step, entry.host);
    if (entry.event === "act") acted.set(key, { step: entry.step, host: entry.host });
    if (entry.event === "end" && (entry.outcome === "done" || entry.outcome === "skipped")) settled.add(key);
    if (entry.event === "undone") {
      acted.delete(key);
      settled.delete(key);
    }
  }
  const finish = own.findLast((entry) => entry.event === "finish");
  return {
    run: begin.run,
    digest: begin.digest,
    targets: begin.targets,
    inventory: begin.inventory,
    settled,
    acted: [...acted.values()],
    // A run that was taken up again after its end has entries after its finish.
    outcome: finish?.event === "finish" && own.at(-1) === finish ? finish.outcome : undefined,
  };
}

/**
 * What a run has settled is settled on the machines it was begun with. Under the
 * same names, other machines have none of it.
 * @throws E_REFUSED
 */
export function requireSameInventory(
  before: Progress,
  playbook: string,
  inventory: string,
  hint: string,
): void {
  if (before.inventory === undefined || before.inventory === inventory) return;
  throw new EscapementError("E_REFUSED", {
    what: `the inventory has other hosts or addresses than the one that ${playbook} was begun with`,
    hint,
  });
}

/** Whether a run waits to be taken up. */
export function isOpen(progress: Progress | undefined): progress is Progress {
  return progress !== undefined && progress.outcome !== "done" && progress.outcome !== "undone";
}
