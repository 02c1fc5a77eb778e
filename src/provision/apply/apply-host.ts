/**
 * One host from plan to confirmation. The change is made over one connection
 * and confirmed over a second, fresh one, after the host has been looked at
 * again. What this side cannot find out, the host settles by itself: it puts
 * everything back when it is not confirmed in time.
 */
import { randomBytes } from "node:crypto";
import { isEscapementError } from "../../base/errors.ts";
import { monotonicMs, sleep } from "../../base/monotonic.ts";
import { remoteFailure } from "../../remote/failure.ts";
import type { Remote } from "../../remote/remote.ts";
import { type ApplyOptions, applyBundle } from "../bundle/apply-bundle.ts";
import { type BundleResult, resultOf, runBundle } from "../bundle/run-bundle.ts";
import { confirmBundle, revertBundle } from "../bundle/settle-bundle.ts";
import {
  beyondHostOf,
  changesOf,
  type HostPlan,
  hasChanges,
  leftToOthers,
  openUnknownsOf,
  planHost,
  sentenceOf,
} from "../plan/host-plan.ts";
import { probesOf } from "../plan/judge.ts";
import { look } from "../plan/look.ts";
import { type HostOutcome, outcome, outcomeOfFailure } from "./outcome.ts";

export interface ApplyHostOptions {
  /** Makes a new connection each time. */
  readonly connect: () => Promise<Remote>;
  readonly confirmSeconds: number;
  readonly activeScheduler?: readonly string[];
  readonly lockSeconds?: number;
  /** For tests: programs in place of the system's, and where the runner kills itself. */
  readonly path?: string;
  readonly stopAt?: number;
  readonly stopUndoAt?: number;
  readonly id?: string;
}

const applyDeadlineMs = 1_200_000;
const settleDeadlineMs = 60_000;
/** Time for the host to put everything back, after its timer. */
const revertGraceMs = 45_000;

/** Never throws: whatever happens is the outcome of this host. */
export async function applyHost(plan: HostPlan, options: ApplyHostOptions): Promise<HostOutcome> {
  const { host } = plan;
  const untold = {
    unknowns: openUnknownsOf(plan).map(sentenceOf),
    beyondHost: beyondHostOf(plan).map(sentenceOf),
    leftToOthers: leftToOthers(plan).map(sentenceOf),
  };
  if (!hasChanges(plan)) return outcome(host, "ok", "unchanged", untold);
  if (plan.interrupted.length > 0) {
    const reason = `transaction ${plan.interrupted.join(", ")} is not finished`;
    return outcome(host, "failed", "busy", { ...untold, reason, hint: "plan again in a minute" });
  }
  const id = options.id ?? newTransactionId();
  const changes = changesOf(plan).length + plan.restarts.length;
  const known = { ...untold, changes, transaction: id };
  const applyOptions: ApplyOptions = { ...options, id };
  let answer: BundleResult | undefined;
  try {
    const probes = probesOf(plan.entries.map(({ resource }) => resource));
    const facts = await over(options, (remote) =>
      runBundle(remote, applyBundle(plan, probes, applyOptions), {
        what: "apply",
        deadlineMs: applyDeadlineMs,
      }),
    );
    answer = resultOf(facts);
  } catch (error) {
    const failure = remoteFailure(error);
    if (failure.status === "unreachable") return outcomeOfFailure(host, failure);
    // The runner goes on without us, and the host decides; a fresh connection asks.
    if (failure.status !== "unknown" && failure.code !== "E_HOST_TIMEOUT")
      return { ...outcomeOfFailure(host, failure), ...untold };
  }
  const deferred = (answer?.of("deferred") ?? []).map(([unit = "", reason = ""]) => ({ unit, reason }));
  const moved = (answer?.of("moved") ?? []).map((values) => values.join(" "));
  if (answer && answer.result !== "applied") {
    const result = asResult(answer.result);
    return outcome(host, "failed", result, { ...untold, moved, transaction: id, reason: answer.reason });
  }
  return confirm(plan, id, options, { ...known, deferred });
}

/** From a connection that did not exist when the change was made. */
async function confirm(
  plan: HostPlan,
  id: string,
  options: ApplyHostOptions,
  known: Partial<HostOutcome>,
): Promise<HostOutcome> {
  const { host } = plan;
  const resources = plan.entries.map(({ resource }) => resource);
  const { paths } = plan.reading;
  const bundleOptions = { paths, ...(options.path !== undefined && { path: options.path }) };
  const endMs = monotonicMs() + options.confirmSeconds * 1000 + revertGraceMs;
  let last = "";
  for (let waitMs = 100; monotonicMs() < endMs; waitMs = Math.min(waitMs * 2, 2_000)) {
    try {
      return await over(options, async (remote) => {
        let reading = await look(remote, resources, bundleOptions);
        const stateOf = () => reading.transactions.find((one) => one.id === id)?.state;
        // Still at it; or its runner is dead, and whoever gets the lock puts it right.
        if (stateOf() === "open" || stateOf() === "begun")
          reading = await look(remote, resources, { ...bundleOptions, settle: true });
        const state = stateOf();
        if (state === undefined)
          return outcome(host, "failed", "refused", {
            ...known,
            changes: 0,
            reason: "the change was never begun",
          });
        if (state === "open" || state === "begun") throw new StillOpen();
        if (state === "reverted")
          return outcome(host, "failed", "reverted", {
            ...known,
            changes: 0,
            reason: last || "the host put everything back",
          });
        const wrong = state === "applied" ? whatIsWrong(plan, planHost(host, resources, reading)) : [];
        const bundle = wrong.length > 0 ? revertBundle(id, bundleOptions) : confirmBundle(id, bundleOptions);
        const ended = resultOf(
          await runBundle(remote, bundle, { what: "confirm", deadlineMs: settleDeadlineMs }),
        );
        if (ended.result === "committed") return outcome(host, "changed", "committed", known);
        const reason = wrong.length > 0 ? `after the change: ${wrong.join("; ")}` : ended.reason;
        return outcome(host, "failed", asResult(ended.result), { ...known, changes: 0, reason });
      });
    } catch (error) {
      if (!(error instanceof StillOpen)) {
        last = isEscapementError(error) ? error.message : "";
        if (!isEscapementError(error)) return outcomeOfFailure(host, remoteFailure(error));
        // No connection comes up any more, so there is nothing to wait for.
        if (error.code === "E_INTERRUPTED") break;
      }
      await sleep(waitMs);
    }
  }
  const reason = `could not be confirmed (${last || "the change does not end"}); the host puts everything back by itself`;
  return outcome(host, "unknown", "lost", {
    ...known,
    reason,
    hint: "look at it again with escapement plan",
  });
}

/** The changed resources that are not as they should be, a sentence each. */
function whatIsWrong(before: HostPlan, after: HostPlan): string[] {
  const changed = new Set(changesOf(before).map(({ resource }) => resource.id));
  return after.entries
    .filter(
      ({ resource, judged }) =>
        changed.has(resource.id) &&
        judged.state !== "ok" &&
        // A service that was active and now starts again may wait for another host; verify tells.
        !(resource.kind === "unit" && judged.state === "unknown"),
    )
    .map(({ resource, judged }) => `${resource.id}: ${judged.lines.join(", ") || "differs"}`);
}

async function over<T>({ connect }: ApplyHostOptions, work: (remote: Remote) => Promise<T>): Promise<T> {
  const remote = await connect();
  try {
    return await work(remote);
  } finally {
    await remote.close().catch(() => {});
  }
}

class StillOpen extends Error {}

const results = ["moved", "refused", "busy", "reverted", "broken"] as const;

function asResult(word: string): HostOutcome["result"] {
  if (word === "gone") return "refused";
  return results.find((one) => one === word) ?? "broken";
}

/** Sorts by time; unlike any other of the same second. */
export function newTransactionId(): string {
  const time = new Date().toISOString().replace(/[-:]|\.\d+/g, "");
  return `${time}-${randomBytes(3).toString("hex")}`;
}
