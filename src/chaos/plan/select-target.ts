/**
 * Which host is broken. Never a host whose loss the drill does not speak of:
 * not the last executor, not a leader without a standby, not the record store
 * unless the drill says so, not the host that runs drills. Pure.
 */
import type { BlastRadius, DrillVariant } from "../../spec/drill-definition.ts";
import type { ClusterHost, ClusterRoles, HostPart } from "./drilled-cluster.ts";

export interface DrillTargetHost {
  readonly host: string;
  readonly part: Exclude<HostPart, "watchman">;
  readonly unit: string;
}

export type TargetChoice =
  | { readonly target: DrillTargetHost; readonly also: readonly DrillTargetHost[] }
  /** One sentence: why there is none. */
  | { readonly refused: string };

export interface TargetQuestion {
  readonly variant: DrillVariant;
  readonly blastRadius: BlastRadius;
  readonly hosts: readonly ClusterHost[];
  readonly roles: ClusterRoles;
  /** Of the command line; empty: any. */
  readonly named: readonly string[];
  /** The load is on: an executor must run a shard of it now. Before that, any that could. */
  readonly loaded: boolean;
}

/** Faults of the whole host, which every part on it feels. */
const hostWide: readonly string[] = ["cut", "clock", "power", "fill-disk"];

/** @returns the best host, and in `also` the others that would do, in order */
export function selectTarget(question: TargetQuestion): TargetChoice {
  const { variant, hosts, named } = question;
  const unknown = named.find((name) => !hosts.some((host) => host.name === name));
  if (unknown !== undefined) return { refused: `${unknown} is not a host of the inventory with a profile` };
  const found = candidates(question);
  if ("refused" in found) return found;
  const reasons: string[] = [];
  const fit = found.nodes.flatMap((node) => {
    const host = hosts.find(({ name }) => name === node);
    const why = host ? unfit(question, host, found.part) : `${node} is not in the inventory`;
    if (why !== undefined) reasons.push(why);
    const unit = host?.units[found.part];
    return why === undefined && unit !== undefined ? [{ host: node, part: found.part, unit }] : [];
  });
  const wanted = fit.filter(({ host }) => named.length === 0 || named.includes(host));
  const [target, ...also] = wanted;
  if (target) return { target, also };
  if (fit.length > 0)
    return {
      refused: `${named.join(", ")} cannot be the target: ${variant.target.role} is ${fit.map(({ host }) => host).join(", ")} now`,
    };
  return { refused: reasons[0] ?? `no host is ${variant.target.role} now` };
}

interface Found {
  readonly part: DrillTargetHost["part"];
  /** Best first. */
  readonly nodes: readonly string[];
}

function candidates({ variant, hosts, roles, loaded }: TargetQuestion): Found | { readonly refused: string } {
  const { leader, schedulers, executors } = roles;
  const standbys = schedulers.filter(({ role, node }) => role === "standby" && node !== leader.node);
  switch (variant.target.role) {
    case "scheduler-leader":
      if (!leader.alive || leader.node === null) return { refused: "no scheduler leads now" };
      if (standbys.length === 0)
        return { refused: `${leader.node} leads and no standby is ready: nobody would take over` };
      return { part: "scheduler", nodes: [leader.node] };
    case "scheduler-standby":
      if (!leader.alive) return { refused: "no scheduler leads now: the standby is needed" };
      if (standbys.length === 0) return { refused: "there is no standby" };
      return { part: "scheduler", nodes: standbys.map(({ node }) => node).sort() };
    case "record-store":
      return {
        part: "record-store",
        nodes: hosts.filter(({ parts }) => parts.includes("record-store")).map(({ name }) => name),
      };
    case "executor": {
      // The controller's own executor takes no work but drills.
      const working = new Set(
        hosts.filter(({ parts }) => parts.includes("executor")).map(({ name }) => name),
      );
      const living = executors.filter(
        ({ node, state, expired }) => state === "active" && !expired && working.has(node),
      );
      const nodes = new Set(living.map(({ node }) => node));
      if (nodes.size < 2)
        return { refused: `${nodes.size} executor(s) take work: one must be left when another is broken` };
      const owning = loaded ? living.filter(({ probes }) => probes > 0) : living;
      if (owning.length === 0) return { refused: "no executor runs a shard of the drill's own jobs" };
      const best = [...owning].sort((a, b) => b.probes - a.probes || (a.node < b.node ? -1 : 1));
      return { part: "executor", nodes: [...new Set(best.map(({ node }) => node))] };
    }
  }
}

/** Why a host must not be touched; undefined when it may. */
function unfit(
  { variant, blastRadius, hosts, roles }: TargetQuestion,
  host: ClusterHost,
  part: HostPart,
): string | undefined {
  if (host.parts.includes("watchman"))
    return `${host.name} is the watchman's host: it looks on, and runs the drills`;
  if (host.units[part] === undefined) return `${host.name} has no unit for ${part} in its profile`;
  if (
    !blastRadius.recordStore &&
    host.parts.includes("record-store") &&
    hostWide.includes(variant.fault.kind)
  )
    return `${host.name} is the record store's host, too, and the drill does not say that this may be hit`;
  if (!hostWide.includes(variant.fault.kind)) return undefined;
  const alive = roles.schedulers.filter(({ role }) => role === "leader" || role === "standby");
  const elsewhere = alive.filter(({ node }) => node !== host.name);
  if (host.parts.includes("scheduler") && alive.length > 0 && elsewhere.length === 0)
    return `${host.name} has every scheduler that lives`;
  if (host.parts.includes("executor") && part !== "executor") {
    const others = hosts.filter(({ name, parts }) => name !== host.name && parts.includes("executor"));
    if (others.length === 0) return `${host.name} has the only executor, too`;
  }
  return undefined;
}
