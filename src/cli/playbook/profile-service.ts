/** Plan and apply of single hosts, for playbooks. */
import { EscapementError } from "../../base/errors.ts";
import { monotonicMs, sleep } from "../../base/monotonic.ts";
import type { HostPlan } from "../../provision/plan/host-plan.ts";
import type { ProfileService, ProfileState } from "../../provision/playbook/host-world.ts";
import type { Remote } from "../../remote/remote.ts";
import type { Definitions } from "../provision/definitions.ts";

/** Beside the time to confirm: by then a transaction that nobody confirms has been put back, packages included. */
const undoMs = 120_000;

/**
 * Facts and plan are made anew each time: the step before may have changed them.
 * @param confirmSeconds a host that is not confirmed within this time puts everything back
 */
export async function profileService(
  definitions: Definitions,
  confirmSeconds: number,
): Promise<ProfileService> {
  const { planOne } = await import("../../provision/plan/fleet-plan.ts");
  const { changesOf, leftToOthers, sentenceOf, unknownsOf } = await import(
    "../../provision/plan/host-plan.ts"
  );
  const { applyHost } = await import("../../provision/apply/apply-host.ts");
  const { askScheduler } = await import("../../provision/apply/active-scheduler.ts");
  const { hosts, reach, describe } = definitions;

  const makePlan = async (remote: Remote, settle: boolean): Promise<HostPlan> =>
    (await planOne(remote, { describe, settle })).plan;
  const stateOf = (plan: HostPlan): ProfileState => ({
    changes: changesOf(plan).length,
    pendingRestarts: plan.restarts.length,
    unknowns: unknownsOf(plan).map(sentenceOf),
    leftToOthers: leftToOthers(plan).map(sentenceOf),
    unfinished: plan.interrupted,
  });
  /** What a run before this one has left is put back by the host; until then nothing can be changed. */
  const makeSettledPlan = async (remote: Remote, signal: AbortSignal): Promise<HostPlan> => {
    const endMs = monotonicMs() + confirmSeconds * 1_000 + undoMs;
    for (;;) {
      const plan = await makePlan(remote, true);
      if (plan.interrupted.length === 0 || monotonicMs() > endMs) return plan;
      signal.throwIfAborted();
      await sleep(2_000);
    }
  };
  return {
    async plan(_, remote) {
      return stateOf(await makePlan(remote, false));
    },
    async apply(name, remote, signal) {
      const plan = await makeSettledPlan(remote, signal);
      signal.throwIfAborted();
      const host = hosts.find((one) => one.name === name)!;
      const scheduler = definitions.schedulerOf(host);
      const outcome = await applyHost(plan, {
        connect: () => reach.connect(host.target),
        confirmSeconds,
        ...(scheduler && { activeScheduler: askScheduler(scheduler.address, scheduler.port) }),
      });
      if (outcome.status === "ok" || outcome.status === "changed")
        return {
          changes: outcome.changes,
          pendingRestarts: outcome.deferred.length,
          unknowns: [...outcome.unknowns, ...outcome.beyondHost],
          leftToOthers: outcome.leftToOthers,
          unfinished: [],
        };
      const what = [outcome.result, outcome.reason, ...outcome.moved].filter(Boolean).join(": ");
      const hint = outcome.hint ?? "look with escapement plan, and run the playbook again";
      throw new EscapementError("E_REFUSED", { what: `${name}: ${what}`, hint }, { at: name });
    },
  };
}
