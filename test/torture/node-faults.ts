/** The faults of one node: how each is made, proven and ended. */
import { sleep } from "../../src/base/monotonic.ts";
import type { Fault } from "../../src/chaos/history.ts";
import type { ClusterNode } from "../../src/lab/cluster-node.ts";
import type { ClusterView } from "./cluster-view.ts";
import type { FaultKind } from "./fault-plan.ts";
import { childrenOf, isGone, isStopped, shown, signal } from "./processes.ts";

/** How much longer than planned a host may stand still until a successor of its attempts has begun. */
const successorPatienceMs = 8_000;

type Undo = () => Promise<void>;
const nothing: Undo = async () => {};

/**
 * Makes a fault, and notes in it whether it was seen to be in effect.
 * @param pid the node's process
 * @returns what ends the fault; a process that is dead afterwards is left to the caller
 */
export async function applyFault(
  view: ClusterView,
  kind: FaultKind,
  node: ClusterNode,
  pid: number,
  fault: Fault,
): Promise<Undo> {
  const supervisors = childrenOf([pid]);
  switch (kind) {
    case "kill":
      fault.proven = (await node.kill())?.signal === "SIGKILL";
      return nothing;
    case "kill-with-supervisor":
      for (const one of supervisors) signal(one, "SIGKILL");
      fault.proven = (await node.kill())?.signal === "SIGKILL";
      return nothing;
    case "kill-supervisor":
      for (const one of supervisors) signal(one, "SIGKILL");
      fault.proven = await shown(supervisors, isGone);
      return nothing;
    case "freeze":
      node.freeze();
      fault.proven = await shown([pid], isStopped);
      return async () => node.thaw();
    case "freeze-supervisor":
      for (const one of supervisors) signal(one, "SIGSTOP");
      fault.proven = await shown(supervisors, isStopped);
      return async () => {
        for (const one of supervisors) signal(one, "SIGCONT");
      };
    case "freeze-host":
      return freezeHost(view, node, [pid, ...supervisors], fault);
    case "network-pause": {
      node.proxy.pause();
      const before = node.proxy.connections;
      return async () => {
        const { open, accepted } = node.proxy.connections;
        fault.proven =
          node.proxy.state === "paused" && (before.open + open > 0 || accepted > before.accepted);
        node.proxy.heal();
      };
    }
    default:
      throw new Error(`${kind} is not a fault of a node`);
  }
}

/** Stops an executor, its supervisor and its children, until somebody else has begun their work. */
async function freezeHost(
  view: ClusterView,
  node: ClusterNode,
  upper: number[],
  fault: Fault,
): Promise<Undo> {
  node.freeze();
  for (const one of upper) signal(one, "SIGSTOP");
  const children = childrenOf(upper.slice(1));
  for (const one of children) signal(one, "SIGSTOP");
  fault.proven = await shown(upper, isStopped);
  fault.unsupervised = view.incarnationsOf(node);
  const late = view.liveOn(node).filter((claim) => !claim.acted);
  return async () => {
    // A late write is one that comes when a successor has begun: wait for that, but not for ever.
    const until = performance.now() + successorPatienceMs;
    const superseded = () => late.length === 0 || late.some((claim) => view.witness.isSuperseded(claim));
    while (!superseded() && performance.now() < until) await sleep(20);
    // Children first: they act before anybody tells them that they are too late.
    for (const one of children) signal(one, "SIGCONT");
    await sleep(50);
    for (const one of upper) signal(one, "SIGCONT");
    node.thaw();
  };
}
