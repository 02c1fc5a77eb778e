/** Looks for what a drill left on its host. */
import { messageOf } from "../../base/errors.ts";
import { sleep } from "../../base/monotonic.ts";
import type { Residue } from "../host/drill-host.ts";
import type { HostAudit } from "./drill-report.ts";
import type { WatchedHost } from "./watched-host.ts";

const tries = 5;
const againAfterMs = 2_000;

/** As systemd says it of a unit whose processes have their end before them. */
const isEnding = ({ what, detail }: Residue) => what === "unit" && detail.endsWith(" deactivating");

/**
 * Once more in a moment, up to five times, while the host could not be looked at, or all that is left is
 * on its way out: a slow host needs a moment for that. Never throws.
 * @param halt nobody knows that it has restored: it is told to
 */
export async function auditTarget(host: WatchedHost, halt: boolean): Promise<HostAudit> {
  for (let left = tries - 1; ; left--) {
    const audit = await auditOnce(host, halt);
    const isDone =
      audit.unseen.length === 0 && (audit.residue.length === 0 || !audit.residue.every(isEnding));
    if (isDone || left === 0) return audit;
    await sleep(againAfterMs);
  }
}

async function auditOnce({ name, door }: WatchedHost, halt: boolean): Promise<HostAudit> {
  try {
    if (halt) await door.halt();
    return { host: name, ...(await door.audit()) };
  } catch (error) {
    return { host: name, residue: [], unseen: [`everything (${messageOf(error)})`] };
  }
}
