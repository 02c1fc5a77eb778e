/** The standby that `--standby` names, as item 0 sees it. Being away is an answer, no error. */
import { messageOf } from "../../base/errors.ts";
import { redact } from "../../base/redact.ts";
import type { StandbyProbe } from "../../checklist/context.ts";
import { Database } from "../../store/database.ts";
import { requireUrl } from "../store-url.ts";

/** Keeps the password out of command lines. */
export const standbyVariable = "ESCAPEMENT_STANDBY_URL";

export interface OpenedStandby {
  /** Undefined: none was named. */
  readonly probe: StandbyProbe | undefined;
  end(): Promise<void>;
}

/** @throws E_BAD_VALUE when what was given is no URL of PostgreSQL */
export async function openStandby(option: string | undefined): Promise<OpenedStandby> {
  const given = option ?? process.env[standbyVariable];
  if (option === undefined && !given) return { probe: undefined, end: async () => {} };
  const db = new Database(requireUrl(given!, option === undefined ? standbyVariable : "--standby"), {
    maxConnections: 1,
    queryTimeoutMs: 10_000,
    applicationName: "escapement-checklist",
  });
  try {
    await db.query("SELECT 1");
    return { probe: { state: "open", db }, end: () => db.end() };
  } catch (error) {
    await db.end().catch(() => {});
    return { probe: { state: "unreachable", reason: redact(messageOf(error)) }, end: async () => {} };
  }
}
