/** The checklist as rows: the latest run of the store, with the evidence of a report where there is one of the same run or a newer one. */
import type { ChecklistLook } from "../../store/ui/records-look.ts";
import { type ChecklistItemLook, itemsOf, type ReportLook } from "./checklist-items.ts";

export interface ItemRow {
  readonly number: number;
  readonly question: string;
  readonly verdict: string;
  /** Of the run before; null: it was not asked. */
  readonly before: string | null;
  readonly message: string;
  readonly why: string;
  readonly how: string;
  readonly open: readonly { readonly kind: string; readonly name: string; readonly verdict: string }[];
  readonly results: NonNullable<ChecklistItemLook["results"]>;
}

/** What the items are called where no report says it in full. */
const questions: Record<number, string> = {
  0: "Does a standby follow the store, and was a backup restored?",
  1: "Does the store refuse a second record of a fire?",
  2: "Is there exactly one authority that fires jobs?",
  3: "Is the blocking policy explicit, and one for the cluster?",
  4: "Is the misfire policy explicit and documented?",
  5: "Is catch-up capped, and done before the next fire?",
  6: "Does every write give the same when it is done twice?",
  7: "Does everything that is held have a lease that ends?",
  8: "Is there an independent watchman, and is it heard?",
  9: "Is time kept everywhere, and every zone written down?",
  10: "Is every clock measured, and alerted on?",
  11: "Does a job heal when its executor is killed?",
  12: "Have the four faults been drilled lately?",
  13: "Are records kept, archived, dropped, and is there room?",
  14: "Does every job end before its next fire on peak days?",
};

export function checklistRows(runs: readonly ChecklistLook[], report: ReportLook | undefined): ItemRow[] {
  const [latest, previous] = runs;
  const stored = latest ? itemsOf(latest.items) : [];
  const before = new Map(
    (previous ? itemsOf(previous.items) : []).map(({ number, verdict }) => [number, verdict]),
  );
  const reported = new Map((report?.items ?? []).map((one) => [one.number, one]));
  const newer =
    report !== undefined &&
    (!latest || report.runId === latest.runId || report.at >= latest.at.toISOString());
  const numbers = [
    ...new Set([...stored.map(({ number }) => number), ...(newer ? reported.keys() : [])]),
  ].sort((a, b) => a - b);
  return numbers.map((number) => {
    const row = stored.find((one) => one.number === number);
    const told = newer ? reported.get(number) : undefined;
    return {
      number,
      question: told?.question ?? row?.question ?? questions[number] ?? `item ${number}`,
      verdict: told?.verdict ?? row?.verdict ?? "unknown",
      before: before.get(number) ?? null,
      message:
        row?.message ||
        (told?.results?.find(({ verdict }) => verdict === told.verdict)?.message ?? told?.message ?? ""),
      why: told?.why ?? "",
      how: told?.how ?? "",
      open: (row?.open ?? []).map(({ scope, verdict }) => ({ ...scope, verdict })),
      results: told?.results ?? [],
    };
  });
}
