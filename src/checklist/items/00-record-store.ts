/** Item 0: the record store itself is no single point. */
import { formatBytes } from "../../base/bytes.ts";
import { formatDuration } from "../../base/duration.ts";
import { readBackups } from "../../store/checklist/backups.ts";
import { type FollowerRow, readFollowers } from "../../store/checklist/replication.ts";
import type { CheckContext } from "../context.ts";
import type { ChecklistItem, Result } from "../item.ts";
import { backupEvidence, countedTables, failedSince, lastGood } from "./backup-rows.ts";
import { days } from "./drill-passes.ts";
import { inParts, openStore } from "./parts.ts";
import { type LagLimits, standbyFollows } from "./standby.ts";
import { clusterScope, queryEvidence, result } from "./verdicts.ts";

/** Where the watch file says nothing. */
const usualLagMs = 60_000;
const usualLagBytes = 64 * 1024 * 1024;

export const recordStore: ChecklistItem<CheckContext> = {
  number: 0,
  id: "record-store",
  question: "Does a standby follow the record store, and was a backup of it restored lately?",
  why: "Schedulers stand in for each other, and all of them depend on one database. A backup that nobody has restored is a hope.",
  how: "The server's own view of who follows it: streaming, replaying, and not far behind; or a standby that is named by its URL, which must be a copy of this server and come to where it is. The records of backups, and of restores whose rows were counted table by table.",
  check: (context) =>
    inParts(context, {
      "the standby": () => standbyFollows(context, lagLimits(context)),
      "who follows the store": () => followers(context),
      "the records of backups": () => backups(context),
    }),
};

async function followers(context: CheckContext): Promise<Result[]> {
  // A standby that was named answers for itself.
  if (context.standby) return [];
  const looked = await readFollowers(openStore(context));
  const evidence = [queryEvidence(context, looked)];
  const scope = clusterScope(context);
  const todo = "set up a standby (playbook record-store), and see that it streams";
  const receivers = looked.rows.filter(
    ({ application }) => !/^(pg_basebackup|pg_receivewal)/.test(application ?? ""),
  );
  if (receivers.length > 0 && receivers.every(({ state }) => state === null))
    return [
      result(scope, "unknown", "this login may not see how far followers are", evidence, {
        todo: "grant it pg_read_all_stats, or name the standby: --standby URL",
      }),
    ];
  const problems = receivers.map((row) => ({ row, problem: problemOf(context, row) }));
  const good = problems.find(({ problem }) => problem === undefined)?.row;
  if (good) {
    const lag = formatBytes(Math.max(0, good.behindBytes ?? 0));
    return [
      result(
        scope,
        "pass",
        `${good.application} at ${good.address ?? "a local socket"} follows, ${lag} behind`,
        evidence,
      ),
    ];
  }
  const message =
    problems.length === 0
      ? "no standby follows the record store"
      : problems.map(({ row, problem }) => `${row.application} ${problem}`).join("; ");
  return [result(scope, "fail", message, evidence, { todo })];
}

function lagLimits(context: CheckContext): LagLimits {
  const limits = context.definitions.watch?.definition.thresholds;
  return { ms: limits?.replicaLag ?? usualLagMs, bytes: limits?.replicaLagSize ?? usualLagBytes };
}

function problemOf(context: CheckContext, row: FollowerRow): string | undefined {
  const { ms: mostMs, bytes: mostBytes } = lagLimits(context);
  if (row.state !== "streaming") return `is ${row.state ?? "in a state nobody may see"}`;
  if (row.behindBytes === null) return "receives and replays nothing";
  if (row.isSameHost) return "is on the store's own host and is lost with it";
  if (row.behindBytes > mostBytes)
    return `is ${formatBytes(row.behindBytes)} behind, more than ${formatBytes(mostBytes)}`;
  if ((row.behindMs ?? 0) > mostMs)
    return `is ${formatDuration(Math.round(row.behindMs!))} behind, more than ${formatDuration(mostMs)}`;
  return undefined;
}

async function backups(context: CheckContext): Promise<Result[]> {
  const looked = await readBackups(openStore(context));
  const scope = clusterScope(context);
  const problems: string[] = [];
  const backup = lastGood(looked.rows, "backup");
  const restore = lastGood(looked.rows, "restore");
  if (!backup) problems.push("no backup was ever recorded");
  else if (backup.ageMs > context.maxAgeMs.backup)
    problems.push(`the last backup is ${days(backup.ageMs)} old`);
  if (!restore) problems.push("no restore was ever tried and counted");
  else if (restore.ageMs > context.maxAgeMs.restore)
    problems.push(`the last restore was ${days(restore.ageMs)} ago`);
  for (const kind of ["backup", "restore"] as const) {
    const bad = failedSince(looked.rows, kind);
    if (bad) problems.push(`the last ${kind} failed: ${bad.reason ?? "no reason given"}`);
  }
  const evidence = [
    backupEvidence(context, looked, "backup", "backup"),
    backupEvidence(context, looked, "restore", "restore"),
  ];
  if (problems.length > 0)
    return [
      result(scope, "fail", problems.join("; "), evidence, {
        todo: "escapement store record-backup after each backup, escapement store rehearse-restore every week",
      }),
    ];
  return [
    result(
      scope,
      "pass",
      `a backup is ${days(backup!.ageMs)} old, a restore of ${countedTables(restore!)} table(s) was counted ${days(restore!.ageMs)} ago`,
      evidence,
    ),
  ];
}
