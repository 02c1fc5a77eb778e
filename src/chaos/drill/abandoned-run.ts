/**
 * A run whose controller went away: whoever comes next puts its hosts right,
 * removes its work, and ends it. It never passes; it fails if a host was left
 * changed.
 */
import { messageOf } from "../../base/errors.ts";
import type { Database } from "../../store/database.ts";
import {
  currentDrillRun,
  type DrillOutcome,
  endDrillRun,
  takeOverDrillRun,
} from "../../store/drill/drill-run.ts";
import type { DrillHost } from "../host/drill-host.ts";
import type { ClusterHost } from "../plan/drilled-cluster.ts";
import type { HostAudit } from "./drill-report.ts";
import { removeProbes } from "./probe-load.ts";
import { runLeaseMs } from "./run-lease.ts";

export interface CleanUpOptions {
  readonly db: Database;
  readonly hosts: readonly ClusterHost[];
  readonly connectHost: (host: ClusterHost) => Promise<DrillHost>;
  readonly controller: string;
  readonly person: string;
  readonly say: (line: string) => void;
}

export interface CleanedUp {
  readonly runId: string;
  readonly drill: string;
  readonly verdict: DrillOutcome;
  readonly reason: string;
  readonly audits: readonly HostAudit[];
}

/** Ends the run that nobody keeps any more. Null: there is none, or its controller is alive. */
export async function endAbandonedRun(options: CleanUpOptions): Promise<CleanedUp | null> {
  const { db, hosts, say, controller, person } = options;
  const run = await currentDrillRun(db);
  if (!run?.abandoned) return null;
  if (!(await takeOverDrillRun(db, run.runId, run.controller, controller, runLeaseMs))) return null;
  say(`the controller of ${run.drill} (${run.runId}) is gone; putting its hosts right`);
  const names = new Set(run.targets.map(({ host }) => host));
  const audits = await Promise.all(
    [...names].map((name) => {
      const host = hosts.find((one) => one.name === name);
      return host ? putRight(host, options) : unknownHost(name);
    }),
  );
  await removeProbes(db, { person, reason: `drill ${run.runId} was abandoned` });
  const residue = audits.flatMap((audit) => audit.residue.map(({ what }) => `${audit.host}: ${what}`));
  const unseen = audits.flatMap((audit) => audit.unseen.map((what) => `${audit.host}: ${what}`));
  const verdict = residue.length > 0 ? "fail" : "unknown";
  const reason =
    residue.length > 0
      ? `its controller went away and left something behind: ${residue.join(", ")}`
      : `its controller went away${unseen.length > 0 ? `; not everything could be looked at: ${unseen.join(", ")}` : ""}`;
  await endDrillRun(db, run.runId, controller, { verdict, reason, summary: { abandoned: true, audits } });
  say(`${run.drill}: ${verdict}: ${reason}`);
  return { runId: run.runId, drill: run.drill, verdict, reason, audits };
}

/** The inventory is another than that of the dead controller; the host has restored itself, but nobody saw it. */
function unknownHost(host: string): HostAudit {
  return { host, residue: [], unseen: ["everything (it is not in this inventory)"] };
}

async function putRight(host: ClusterHost, { connectHost, say }: CleanUpOptions): Promise<HostAudit> {
  try {
    const door = await connectHost(host);
    try {
      const { halted } = await door.halt();
      if (halted) say(`${host.name}: restored`);
      return { host: host.name, ...(await door.audit()) };
    } finally {
      await door.close().catch(() => {});
    }
  } catch (error) {
    return { host: host.name, residue: [], unseen: [`everything (${messageOf(error)})`] };
  }
}
