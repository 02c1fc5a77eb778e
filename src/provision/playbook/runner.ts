/**
 * Goes through a playbook.
 *
 *   begin ──▶ step 1 ──▶ … ──▶ step n ──▶ finished: done
 *     ▲          │ a host failed, or a signal
 *     │          ▼
 *     └─again── finished: failed, interrupted ──undo──▶ finished: undone
 *
 * A step begins when the one before has ended on every host. What a run has
 * settled stands in the journal and is not done again; what it had begun is
 * done again, guard first: every action may be done twice.
 */
import { randomUUID } from "node:crypto";
import { EscapementError } from "../../base/errors.ts";
import { sleep } from "../../base/monotonic.ts";
import type { PlaybookStep } from "../../spec/playbook-schema.ts";
import type { Journal } from "./journal.ts";
import type { Playbook } from "./load-playbook.ts";
import { isOpen, latestRun, type Progress, requireSameInventory, unitKey } from "./progress.ts";
import type { PlaybookHost, Registry, StepContext } from "./registry.ts";
import { runUnit, type UnitEnd } from "./run-unit.ts";
import { groupHosts, selectHosts } from "./select-hosts.ts";

/** What a run tells while it goes. */
export type RunEvent =
  | { readonly event: "run"; readonly run: string; readonly resumed: boolean }
  | {
      readonly event: "step";
      readonly step: string;
      readonly title: string;
      readonly hosts: readonly string[];
    }
  | { readonly event: "begin"; readonly step: string; readonly host: string }
  | ({ readonly event: "end"; readonly step: string; readonly host: string } & UnitEnd)
  | { readonly event: "undone"; readonly step: string; readonly host: string; readonly because: string };

export interface RunOptions<World> {
  readonly playbook: Playbook;
  readonly registry: Registry<World>;
  readonly world: World;
  readonly hosts: readonly PlaybookHost[];
  readonly targets: readonly PlaybookHost[];
  /** Digest of the names and addresses of all hosts. */
  readonly inventoryDigest: string;
  readonly journal: Journal;
  readonly signal: AbortSignal;
  /** Begin at this step, whatever the journal says. */
  readonly from?: string;
  /** Do not take up the run before. */
  readonly fresh?: boolean;
  readonly onEvent?: (event: RunEvent) => void;
  /** The leading scheduler last. Asked again for each step that wants it. */
  readonly standbyFirst?: (hosts: readonly PlaybookHost[]) => Promise<readonly PlaybookHost[]>;
}

export interface RunUnit extends UnitEnd {
  readonly step: string;
  readonly host: string;
}

export interface RunResult {
  readonly run: string;
  readonly outcome: "done" | "failed" | "interrupted" | "undone";
  readonly resumed: boolean;
  /** Those this call went through, in the order of their ends. */
  readonly units: readonly RunUnit[];
}

/** @throws E_REFUSED when the playbook or the inventory has changed since the run it would take up; E_USAGE for an unknown step */
export async function runPlaybook<World>(options: RunOptions<World>): Promise<RunResult> {
  const { playbook, journal, signal, onEvent = () => {} } = options;
  const { steps } = playbook.spec;
  const first = options.from === undefined ? 0 : steps.findIndex((step) => step.id === options.from);
  if (first < 0)
    throw new EscapementError("E_USAGE", {
      what: `${playbook.name} has no step ${options.from}; it has ${steps.map((step) => step.id).join(", ")}`,
    });
  const { run, resumed, settled } = beginOrResume(options);
  onEvent({ event: "run", run, resumed });
  const units: RunUnit[] = [];
  for (const step of steps.slice(first)) {
    const hosts = await hostsOf(options, step);
    onEvent({ event: "step", step: step.id, title: step.title, hosts: hosts.map((host) => host.name) });
    const open = hosts.filter((host) => !settled.has(unitKey(step.id, host.name)));
    const groups = groupHosts(step.rolling, open);
    for (const [i, group] of groups.entries()) {
      if (i > 0 && step.pause) await sleep(step.pause, signal);
      const ended = await Promise.all(group.map((host) => oneUnit(options, run, step, host, onEvent)));
      units.push(...ended);
      const outcome = worstOf(ended);
      if (outcome === undefined) continue;
      journal.append({ run, event: "finish", outcome });
      return { run, outcome, resumed, units };
    }
  }
  journal.append({ run, event: "finish", outcome: "done" });
  return { run, outcome: "done", resumed, units };
}

function beginOrResume<World>(options: RunOptions<World>) {
  const { playbook, journal, targets, inventoryDigest: inventory } = options;
  const before = runToTakeUp(options);
  if (before) return { run: before.run, resumed: true, settled: before.settled };
  const run = randomUUID();
  const names = targets.map((target) => target.name);
  const { name, digest } = playbook;
  journal.append({ run, event: "begin", playbook: name, digest, targets: names, inventory });
  return { run, resumed: false, settled: new Set<string>() };
}

/** The run that would be gone on with, if any. @throws E_REFUSED when the playbook or the hosts are others since */
export function runToTakeUp<World>(options: RunOptions<World>): Progress | undefined {
  const { playbook, journal, from, fresh, inventoryDigest } = options;
  const before = latestRun(journal.entries);
  if (fresh || from !== undefined || !isOpen(before)) return undefined;
  const hint = "--fresh begins anew, --from STEP begins at a step; guards find what is done already";
  if (before.digest !== playbook.digest)
    throw new EscapementError("E_REFUSED", {
      what: `${playbook.name} has changed since the run that would be taken up`,
      hint,
    });
  requireSameInventory(before, playbook.name, inventoryDigest, hint);
  return before;
}

export async function hostsOf<World>(
  { hosts, targets, standbyFirst }: Pick<RunOptions<World>, "hosts" | "targets" | "standbyFirst">,
  step: PlaybookStep,
): Promise<readonly PlaybookHost[]> {
  const selected = selectHosts(step.hosts, hosts, targets);
  return step.hosts.order === "standby-first" && standbyFirst ? standbyFirst(selected) : selected;
}

async function oneUnit<World>(
  options: RunOptions<World>,
  run: string,
  step: PlaybookStep,
  host: PlaybookHost,
  onEvent: (event: RunEvent) => void,
): Promise<RunUnit> {
  const unit = { step: step.id, host: host.name };
  onEvent({ event: "begin", ...unit });
  const end = await runUnit(options.registry, step, contextOf(options, host), () =>
    options.journal.append({ run, event: "act", ...unit }),
  );
  options.journal.append({ run, event: "end", ...unit, ...end });
  onEvent({ event: "end", ...unit, ...end });
  return { ...unit, ...end };
}

export function contextOf<World>(options: RunOptions<World>, host: PlaybookHost): StepContext<World> {
  const { world, hosts, targets, signal } = options;
  return { world, host, hosts, targets, signal };
}

function worstOf(units: readonly RunUnit[]): "failed" | "interrupted" | undefined {
  if (units.some((unit) => unit.outcome === "failed")) return "failed";
  return units.some((unit) => unit.outcome === "interrupted") ? "interrupted" : undefined;
}
