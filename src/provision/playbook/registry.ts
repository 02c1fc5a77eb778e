/**
 * Named actions and checks. A playbook says which, where and in which order;
 * what they do is TypeScript. `World` is what they reach hosts and store by.
 */
import type { z } from "zod";
import { EscapementError } from "../../base/errors.ts";
import type { HostRole } from "../../spec/playbook-schema.ts";

/** A host of the inventory, as playbooks see it. */
export interface PlaybookHost {
  readonly name: string;
  readonly roles: readonly HostRole[];
  readonly failureDomain: string;
}

/** Where an action or a check stands. */
export interface StepContext<World> {
  readonly world: World;
  /** The host it is about. */
  readonly host: PlaybookHost;
  /** All of the inventory, in its order. */
  readonly hosts: readonly PlaybookHost[];
  /** Those named by `--host`. */
  readonly targets: readonly PlaybookHost[];
  /** Fires when the run is interrupted: end soon, leaving nothing half done. */
  readonly signal: AbortSignal;
}

/** Unknown is never a yes. */
export interface CheckAnswer {
  readonly answer: "yes" | "no" | "unknown";
  /** One sentence: what was seen. */
  readonly because: string;
}

export interface ActionEntry<World> {
  readonly kind: "action";
  readonly summary: string;
  readonly args: z.ZodType;
  /** Does it; once or twice is the same. @returns what changed, in a few words. */
  readonly run: (context: StepContext<World>, args: unknown) => Promise<string>;
}

export interface CheckEntry<World> {
  readonly kind: "check";
  readonly summary: string;
  readonly args: z.ZodType;
  readonly look: (context: StepContext<World>, args: unknown) => Promise<CheckAnswer>;
}

export interface Registry<World> {
  readonly actions: ReadonlyMap<string, ActionEntry<World>>;
  readonly checks: ReadonlyMap<string, CheckEntry<World>>;
}

/** An action with its arguments' shape, so that `run` gets them parsed. */
export function defineAction<World, A>(
  summary: string,
  args: z.ZodType<A>,
  run: (context: StepContext<World>, args: A) => Promise<string>,
): ActionEntry<World> {
  return { kind: "action", summary, args, run: (context, given) => run(context, args.parse(given)) };
}

export function defineCheck<World, A>(
  summary: string,
  args: z.ZodType<A>,
  look: (context: StepContext<World>, args: A) => Promise<CheckAnswer>,
): CheckEntry<World> {
  return { kind: "check", summary, args, look: (context, given) => look(context, args.parse(given)) };
}

export const yes = (because: string): CheckAnswer => ({ answer: "yes", because });
export const no = (because: string): CheckAnswer => ({ answer: "no", because });
export const unknown = (because: string): CheckAnswer => ({ answer: "unknown", because });

/** The entry that a checked playbook names. @throws E_BUG: it was not checked */
export function entryOf<Entry>(entries: ReadonlyMap<string, Entry>, wanted: string): Entry {
  const found = entries.get(wanted);
  if (!found)
    throw new EscapementError("E_BUG", { what: `the playbook names ${wanted}, which nobody checked` });
  return found;
}
