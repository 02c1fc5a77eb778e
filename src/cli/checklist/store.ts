/** The record store as the checklist sees it: open, or away with the reason. Being away is an answer, no error. */
import { EscapementError, isEscapementError, messageOf } from "../../base/errors.ts";
import { ExitCode } from "../../base/exit-code.ts";
import { formatInstant } from "../../base/instant.ts";
import { monotonicMs } from "../../base/monotonic.ts";
import { redact } from "../../base/redact.ts";
import type { CheckContext, StoreProbe } from "../../checklist/context.ts";
import { drillHistory } from "../../store/checklist/drill-history.ts";
import { readCluster } from "../../store/cluster.ts";
import { Database } from "../../store/database.ts";
import { checkSchema } from "../../store/migrate.ts";
import { readStoreTime } from "../../store/store-time.ts";
import { type StoreOptions, storeUrl } from "../store-url.ts";

export interface OpenedStore {
  readonly probe: StoreProbe;
  readonly clusterId: string | null;
  readonly startedAt: Date;
  readonly clock: "database" | "local";
  readonly drills: CheckContext["drills"];
  /** The time now, by that clock, without asking again. */
  at(): string;
  end(): Promise<void>;
}

/** Shorter than an item may take, so that a slow statement is an answer of its own. */
const longestQueryMs = 30_000;
/** Items run side by side, and some look at several things at once. */
const connections = 6;

/** @throws E_STORE_URL_MISSING, E_BAD_VALUE when no store is named */
export async function openStore(options: StoreOptions): Promise<OpenedStore> {
  let db: Database | undefined;
  try {
    db = new Database(await storeUrl(options), {
      maxConnections: connections,
      queryTimeoutMs: longestQueryMs,
      applicationName: "escapement-checklist",
    });
    await checkSchema(db);
    const [now, { clusterId }] = await Promise.all([readStoreTime(db), readCluster(db)]);
    return opened(db, now, clusterId);
  } catch (error) {
    await db?.end().catch(() => {});
    if (isEscapementError(error) && error.exitCode === ExitCode.usage) throw error;
    return away(redact(messageOf(error)));
  }
}

function opened(db: Database, now: Date, clusterId: string): OpenedStore {
  return {
    probe: { state: "open", db, now: () => readStoreTime(db) },
    clusterId,
    startedAt: now,
    clock: "database",
    drills: { historyOf: (drillClass) => drillHistory(db, drillClass) },
    at: clockFrom(now),
    end: () => db.end(),
  };
}

function away(reason: string): OpenedStore {
  const now = new Date();
  return {
    probe: { state: "unreachable", reason },
    clusterId: null,
    startedAt: now,
    clock: "local",
    drills: {
      historyOf: async () => {
        throw new EscapementError("E_STORE_UNAVAILABLE", { reason });
      },
    },
    at: clockFrom(now),
    end: async () => {},
  };
}

function clockFrom(start: Date): () => string {
  const startMs = monotonicMs();
  return () => formatInstant(new Date(start.getTime() + monotonicMs() - startMs));
}
