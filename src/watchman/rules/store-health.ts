/** The server that holds the records: standbys that lag, dead rows that cannot go, room. What may not be seen is not judged. */
import { formatBytes } from "../../base/bytes.ts";
import { howLong } from "./missing-success.ts";
import type { Rule } from "./rule.ts";

export const replicaBehind: Rule = (picture, settings) =>
  (picture.health?.replicas ?? [])
    .filter(({ lagMs, lagBytes }) => lagMs > settings.replicaLagMs || lagBytes > settings.replicaLagBytes)
    .map((replica) => ({
      rule: "replica-behind",
      key: `replica-behind:${replica.name}`,
      severity: "warning",
      message: `standby ${replica.name} is ${howLong(replica.lagMs)} and ${formatBytes(replica.lagBytes)} behind: a promotion now would lose records`,
      evidence: { ...replica },
      cause: "store",
      hint: "psql -c 'SELECT * FROM pg_stat_replication'",
    }));

export const xminHeld: Rule = (picture, settings) => {
  const oldest = picture.health?.oldestXmin;
  if (!oldest || oldest.ageMs <= settings.xminAgeMs) return [];
  return [
    {
      rule: "xmin-held",
      key: "xmin-held",
      severity: "warning",
      message: `${oldest.who} has kept dead rows from being removed for ${howLong(oldest.ageMs)} (${oldest.transactions} transactions): the queue tables grow`,
      evidence: { ...oldest },
      cause: "store",
      hint: "psql -c 'SELECT pid, usename, application_name, state, xact_start FROM pg_stat_activity ORDER BY xact_start LIMIT 5'",
    },
  ];
};

export const storeFull: Rule = (picture, settings) => {
  const bytes = picture.health?.databaseBytes;
  if (bytes == null || settings.storeFullBytes === null || bytes < settings.storeFullBytes) return [];
  return [
    {
      rule: "store-full",
      key: "store-full",
      severity: "critical",
      message: `the record store has ${formatBytes(bytes)}; its watermark is ${formatBytes(settings.storeFullBytes)}`,
      evidence: { bytes, watermark: settings.storeFullBytes },
      cause: "store",
      hint: "escapement store prune --dry-run --reason 'disk is short'",
    },
  ];
};
