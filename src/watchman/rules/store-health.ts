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
      hint: "escapement store prune --dry-run --reason 'disk is short'",
    },
  ];
};

/** Room where the store keeps its data and its log: without it PostgreSQL stops. */
export const storeDisk: Rule = (picture, settings) =>
  picture.storeDisks.flatMap((disk) => {
    const ageMs = picture.now.getTime() - disk.at.getTime();
    const about = {
      rule: "store-disk" as const,
      key: `store-disk:${disk.host}:${disk.path}`,
      evidence: { ...disk },
    };
    if (ageMs > settings.storeDiskStaleMs)
      return [
        {
          ...about,
          severity: "warning" as const,
          message: `${disk.host} has not reported ${disk.path} for ${howLong(ageMs)}: its room is not seen`,
          hint: `systemctl status escapement-store-disk.timer`,
        },
      ];
    const share = disk.freeBytes / disk.totalBytes;
    if (share >= settings.storeDiskWarnShare) return [];
    const critical = share < settings.storeDiskCriticalShare;
    return [
      {
        ...about,
        severity: critical ? ("critical" as const) : ("warning" as const),
        message: `${disk.path} of ${disk.host} has ${formatBytes(disk.freeBytes)} left, ${Math.floor(share * 100)} % of ${formatBytes(disk.totalBytes)}`,
        hint: "escapement store prune --dry-run --reason 'disk is short'",
      },
    ];
  });
