/**
 * Runs the items side by side, each within its time. Whatever goes wrong in an
 * item becomes its answer: unknown, with the message. It never stops the others.
 */
import { messageOf } from "../base/errors.ts";
import { monotonicMs } from "../base/monotonic.ts";
import { redact } from "../base/redact.ts";
import type { ChecklistItem, Evidence, Result } from "./item.ts";

/** The answers of one item, as they were measured: waivers come later. */
export interface ItemRun {
  readonly item: Pick<ChecklistItem<unknown>, "number" | "id" | "question" | "why" | "how">;
  readonly results: readonly Result[];
  readonly durationMs: number;
}

export interface RunOptions<Context> {
  readonly items: readonly ChecklistItem<Context>[];
  /** What an item looks at; `signal` fires when its time is up. */
  contextFor(signal: AbortSignal): Context;
  /** For each item, from its start. */
  readonly deadlineMs: number;
  /**
   * How many at once. Default 8: they wait for the database and for hosts, hardly for this machine. More of them
   * would wait for each other: the store is asked through few connections, and who gets none in 5 s is unknown.
   */
  readonly concurrency?: number;
  readonly signal?: AbortSignal;
  /** Called in the order in which they end. */
  readonly onItem?: (run: ItemRun) => void;
  /** Name of the cluster scope, for answers that the engine gives itself. */
  readonly cluster: string;
}

const longestOutput = 4_000;

/** @returns one run an item, in the order of the items. Never throws. */
export async function runItems<Context>(options: RunOptions<Context>): Promise<readonly ItemRun[]> {
  const { items, concurrency = 8 } = options;
  const runs: ItemRun[] = new Array(items.length);
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < items.length) {
      const index = next++;
      const run = await runItem(items[index]!, options);
      runs[index] = run;
      options.onItem?.(run);
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, worker));
  return runs;
}

async function runItem<Context>(
  item: ChecklistItem<Context>,
  options: RunOptions<Context>,
): Promise<ItemRun> {
  const { number, id, question, why, how } = item;
  const startedMs = monotonicMs();
  const results = await answersOf(item, options);
  return {
    item: { number, id, question, why, how },
    results,
    durationMs: Math.round(monotonicMs() - startedMs),
  };
}

async function answersOf<Context>(
  item: ChecklistItem<Context>,
  { contextFor, deadlineMs, signal, cluster }: RunOptions<Context>,
): Promise<readonly Result[]> {
  const unknown = (message: string, todo: string): Result[] => [
    { scope: { kind: "cluster", name: cluster }, verdict: "unknown", message, todo, evidence: [] },
  ];
  if (signal?.aborted) return unknown("was not checked: the run was stopped", "run the checklist again");
  const stop = new AbortController();
  const limit = timeLimit(deadlineMs, signal);
  try {
    // An item that throws at once, before its first await, is caught here as well.
    const checking = (async () => item.check(contextFor(stop.signal)))();
    const results = await Promise.race([checking, limit.promise]);
    if (results === "late")
      return unknown(
        `gave no answer within ${deadlineMs / 1_000} s`,
        "look at the database and the hosts: something there is slow",
      );
    if (results === "stopped")
      return unknown("was not checked: the run was stopped", "run the checklist again");
    if (results.length === 0)
      return unknown("found nothing to judge", "check that there are jobs and hosts to look at");
    return results.map(tidy);
  } catch (error) {
    return unknown(
      `could not be checked: ${redact(messageOf(error))}`,
      "mend what the message names, and run the checklist again",
    );
  } finally {
    limit.forget();
    stop.abort();
  }
}

/** A pass that shows nothing is a claim. Evidence is short, and free of secrets. */
function tidy(result: Result): Result {
  const evidence = result.evidence.map(
    (one): Evidence => ({ ...one, what: cut(redact(one.what)), output: cut(redact(one.output)) }),
  );
  const message = redact(result.message);
  if (result.verdict === "pass" && evidence.length === 0)
    return { ...result, verdict: "unknown", message: `passed, but shows no evidence: ${message}`, evidence };
  return { ...result, message, evidence };
}

function cut(text: string): string {
  if (text.length <= longestOutput) return text;
  const note = `\n… ${text.length - longestOutput} more characters`;
  return text.slice(0, longestOutput - note.length).replace(/[\uD800-\uDBFF]$/, "") + note;
}

function timeLimit(
  ms: number,
  signal: AbortSignal | undefined,
): { readonly promise: Promise<"late" | "stopped">; forget(): void } {
  let timer: NodeJS.Timeout | undefined;
  let stopped = () => {};
  const promise = new Promise<"late" | "stopped">((resolve) => {
    timer = setTimeout(() => resolve("late"), ms);
    stopped = () => resolve("stopped");
    signal?.addEventListener("abort", stopped, { once: true });
  });
  return {
    promise,
    forget: () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", stopped);
    },
  };
}
