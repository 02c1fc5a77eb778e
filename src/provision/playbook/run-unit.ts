/**
 * One step on one host.
 *
 *   guard ──yes──▶ skipped
 *     └──▶ requires ──all yes──▶ act ──▶ verify ──yes──▶ done
 *             └──no, unknown─────▶ failed ◀──not in time──┘
 */
import { isEscapementError, messageOf } from "../../base/errors.ts";
import { monotonicMs, sleep } from "../../base/monotonic.ts";
import { redact } from "../../base/redact.ts";
import type { PlaybookStep } from "../../spec/playbook-schema.ts";
import { type CheckAnswer, entryOf, type Registry, type StepContext, unknown } from "./registry.ts";

export type UnitOutcome = "done" | "skipped" | "failed" | "interrupted";

export interface UnitEnd {
  readonly outcome: UnitOutcome;
  readonly because: string;
}

/** Between two looks of a verification. */
const lookEveryMs = 1_000;

/** Asks a check. What it throws is an unknown. */
export async function ask<World>(
  registry: Registry<World>,
  context: StepContext<World>,
  check: { readonly check: string; readonly with: unknown },
): Promise<CheckAnswer> {
  try {
    return await entryOf(registry.checks, check.check).look(context, check.with);
  } catch (error) {
    if (isEscapementError(error) && error.code === "E_BUG") throw error;
    return unknown(messageOf(error));
  }
}

/** @param onAct called, and durable, before the action begins */
export async function runUnit<World>(
  registry: Registry<World>,
  step: PlaybookStep,
  context: StepContext<World>,
  onAct: () => void,
): Promise<UnitEnd> {
  const { signal } = context;
  const interrupted: UnitEnd = { outcome: "interrupted", because: "the run was stopped" };
  if (signal.aborted) return interrupted;
  if (step.guard) {
    const { answer, because } = await ask(registry, context, step.guard);
    if (answer === "yes") return { outcome: "skipped", because };
  }
  for (const required of step.requires) {
    const { answer, because } = await ask(registry, context, required);
    if (answer !== "yes")
      return {
        outcome: "failed",
        because: `requires ${required.check}: ${answer}, ${because}; nothing was done`,
      };
  }
  if (signal.aborted) return interrupted;
  let note: string;
  try {
    onAct();
    note = await entryOf(registry.actions, step.action.do).run(context, step.action.with);
  } catch (error) {
    if (signal.aborted) return interrupted;
    return { outcome: "failed", because: reasonOf(error) };
  }
  if (!step.verify) return { outcome: "done", because: note };
  const untilMs = monotonicMs() + step.verify.within;
  for (;;) {
    const { answer, because } = await ask(registry, context, step.verify);
    if (answer === "yes") return { outcome: "done", because: note === "" ? because : `${note}; ${because}` };
    if (signal.aborted) return interrupted;
    const leftMs = untilMs - monotonicMs();
    if (leftMs <= 0) return { outcome: "failed", because: `${step.verify.check}: ${answer}, ${because}` };
    await sleep(Math.min(lookEveryMs, leftMs), signal);
  }
}

/** The error's sentence, with what to do next, and without secrets: it goes into the journal. */
export function reasonOf(error: unknown): string {
  return redact(isEscapementError(error) ? `${error.message} (${error.hint})` : messageOf(error));
}
