/** Item 13: records stay long enough, go when their time has come, and never fill the disk. */
import { formatBytes } from "../../base/bytes.ts";
import { readBackups } from "../../store/checklist/backups.ts";
import {
  type MonthRow,
  readDisks,
  readForgottenKeys,
  readMonths,
  readRetention,
} from "../../store/checklist/retention-state.ts";
import type { CheckContext } from "../context.ts";
import type { ChecklistItem, Result } from "../item.ts";
import { backupEvidence, countedTables, lastGood } from "./backup-rows.ts";
import { days } from "./drill-passes.ts";
import { inParts, openStore } from "./parts.ts";
import { clusterScope, computed, queryEvidence, result } from "./verdicts.ts";

/** A year, and the month in which its books are closed. */
const leastMonths = 13;
/** Where the watch file says nothing. */
const usualFreeShare = 0.2;

export const retention: ChecklistItem<CheckContext> = {
  number: 13,
  id: "retention",
  question:
    "Are records kept for 13 months, archived, dropped when their time has come, and does the disk hold them?",
  why: "Half a year later somebody asks what was paid that night. A full disk looks like a job that did not run, and a key that is forgotten too early lets a fire happen twice.",
  how: "The retention of the store, its partitions from the oldest to the next month, the low-water mark, the last prune, keys of business periods and of the guard against the records they protect, the free space that the store's host reported against the largest month, and the last archive and restore.",
  check: (context) =>
    inParts(context, {
      "what is kept": () => kept(context),
      "keys that prevent doing things twice": () => keys(context),
      "the disks": () => disks(context),
      "archive and restore": () => archive(context),
    }),
};

const monthOf = (date: Date, plus = 0) =>
  new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + plus, 1)).toISOString().slice(0, 7);

async function kept(context: CheckContext): Promise<Result[]> {
  const db = openStore(context);
  const looked = await readRetention(db);
  const months = await readMonths(db);
  const evidence = [queryEvidence(context, looked), queryEvidence(context, months)];
  const scope = clusterScope(context);
  const { retentionMonths, lowWater, keptSince, oldest, lastPrune, now } = looked.rows[0]!;
  const problems: string[] = [];
  if (retentionMonths < leastMonths)
    problems.push(`records are kept for ${retentionMonths} months, less than ${leastMonths}`);
  const written = context.definitions.cluster?.definition.records.retentionMonths;
  if (written !== undefined && written !== retentionMonths)
    problems.push(`the cluster file says ${written} months, the store keeps ${retentionMonths}`);
  if (lowWater > keptSince)
    problems.push(
      `everything before ${lowWater.toISOString().slice(0, 10)} is forgotten, and should be there since ${keptSince.toISOString().slice(0, 10)}`,
    );
  // One month of grace: pruning is monthly work.
  const stale = months.rows.filter(({ month }) => month < monthOf(keptSince, -1));
  if (stale.length > 0)
    problems.push(
      `${stale.length} month(s) are past retention and still there, ${stale[0]!.month} the first; the last prune was ${lastPrune ? lastPrune.toISOString().slice(0, 10) : "never"}`,
    );
  const missing = [monthOf(now)].filter(
    (month) => !months.rows.some((row) => row.month === month && row.tables.length === 4),
  );
  if (missing.length > 0) problems.push(`there is no whole partition for ${missing.join(", ")}`);
  if (oldest && oldest < lowWater)
    problems.push(`a record of ${oldest.toISOString()} is older than the low-water mark`);
  const gone = between(months.rows).filter((month) => month >= monthOf(keptSince) && month < monthOf(now));
  if (problems.length === 0 && gone.length > 0) {
    const message = `there are no records of ${gone.join(", ")}, though there are older ones: nobody can tell whether anything ran then`;
    return [
      result(scope, "unknown", message, evidence, {
        todo: "find out whether the cluster stood still or a partition was dropped",
      }),
    ];
  }
  if (problems.length > 0)
    return [
      result(scope, "fail", problems.join("; "), evidence, {
        todo: "escapement store prune --dry-run, then the cluster file's records.retentionMonths",
      }),
    ];
  if (!oldest)
    return [
      result(scope, "unknown", "there is no record yet: nothing shows that one is kept", evidence, {
        todo: "let a job fire once, then look again",
      }),
    ];
  const since = oldest.toISOString().slice(0, 10);
  const message = `${retentionMonths} months are kept, the oldest record is of ${since}`;
  return [result(scope, "pass", message, evidence)];
}

/** Months without a whole partition between the first and the last one. */
function between(months: readonly MonthRow[]): string[] {
  const whole = new Set(months.filter(({ tables }) => tables.length === 4).map(({ month }) => month));
  const [first] = months;
  const last = months.at(-1);
  const missing: string[] = [];
  if (!first || !last) return missing;
  for (
    let at = new Date(`${first.month}-01T00:00:00Z`);
    monthOf(at) < last.month;
    at = new Date(`${monthOf(at, 1)}-01T00:00:00Z`)
  )
    if (!whole.has(monthOf(at))) missing.push(monthOf(at));
  return missing;
}

async function keys(context: CheckContext): Promise<Result[]> {
  const db = openStore(context);
  const looked = await readForgottenKeys(db);
  const { lowWater } = (await readRetention(db)).rows[0]!;
  const evidence = [queryEvidence(context, looked)];
  const scope = clusterScope(context);
  const { periods, guardLowWater, hasGuard } = looked.rows[0]!;
  const problems: string[] = [];
  if (periods > 0)
    problems.push(`the business periods of ${periods} execution(s) are forgotten: they could be done again`);
  if (guardLowWater && guardLowWater > lowWater)
    problems.push(
      `the guard has forgotten keys before ${guardLowWater.toISOString().slice(0, 10)}, for executions that are still on record`,
    );
  if (problems.length > 0)
    return [
      result(scope, "fail", problems.join("; "), evidence, { todo: "never prune keys before executions" }),
    ];
  const guard = hasGuard ? " and those of the guard" : "";
  return [result(scope, "pass", `keys of periods${guard} are kept as long as executions`, evidence)];
}

async function disks(context: CheckContext): Promise<Result[]> {
  const db = openStore(context);
  const looked = await readDisks(db);
  const months = await readMonths(db);
  const evidence = [queryEvidence(context, looked)];
  const scope = clusterScope(context);
  const todo = "escapement store report-disk, by its timer on the store's host";
  const fresh = looked.rows.filter(({ ageMs }) => ageMs <= context.maxAgeMs.sample && ageMs >= 0);
  if (fresh.length === 0)
    return [
      result(scope, "unknown", "nobody has reported the disks of the store's host lately", evidence, {
        todo,
      }),
    ];
  const stores = context.hosts.filter(({ roles }) => roles.includes("record-store")).map(({ name }) => name);
  if (stores.length > 0 && !fresh.some(({ host }) => stores.includes(host))) {
    const told = [...new Set(fresh.map(({ host }) => host))].join(", ");
    const message = `the disks of ${told} were reported, and the store is on ${stores.join(", ")}`;
    return [result(scope, "unknown", message, evidence, { todo })];
  }
  const stale = looked.rows.filter((row) => !fresh.includes(row));
  if (stale.length > 0) {
    const names = stale.map(({ host, path }) => `${host}:${path}`).join(", ");
    return [result(scope, "unknown", `${names} was not reported lately`, evidence, { todo })];
  }
  const least = context.definitions.watch?.definition.thresholds?.storeDiskWarn ?? usualFreeShare;
  const problems = fresh
    .filter(({ freeBytes, totalBytes }) => freeBytes < least * totalBytes)
    .map(
      ({ host, path, freeBytes, totalBytes }) =>
        `${host}:${path} has ${formatBytes(freeBytes)} free, ${((100 * freeBytes) / totalBytes).toFixed(0)} % of ${formatBytes(totalBytes)}`,
    );
  const { retentionMonths } = (await readRetention(db)).rows[0]!;
  const largest = Math.max(0, ...months.rows.map(({ bytes }) => bytes));
  const ahead = Math.max(0, retentionMonths - months.rows.length) * largest;
  const most = Math.max(...fresh.map(({ freeBytes }) => freeBytes));
  evidence.push(
    computed(
      context,
      "months still to come × the largest month",
      `${formatBytes(ahead)} to come, ${formatBytes(most)} free`,
    ),
  );
  if (ahead > most)
    problems.push(`${formatBytes(ahead)} of records are still to come, and ${formatBytes(most)} are free`);
  if (problems.length > 0)
    return [
      result(scope, "fail", problems.join("; "), evidence, {
        todo: "make room before the disk is full: escapement capacity storage",
      }),
    ];
  return [result(scope, "pass", `${formatBytes(most)} are free`, evidence)];
}

async function archive(context: CheckContext): Promise<Result[]> {
  const looked = await readBackups(openStore(context));
  const evidence = [
    backupEvidence(context, looked, "backup", "archive"),
    backupEvidence(context, looked, "restore", "archiveRestore"),
  ];
  const scope = clusterScope(context);
  const backup = lastGood(looked.rows, "backup");
  const restore = lastGood(looked.rows, "restore");
  const problems: string[] = [];
  if (!backup || backup.ageMs > context.maxAgeMs.archive)
    problems.push(backup ? `the last archive is ${days(backup.ageMs)} old` : "no archive was ever made");
  if (!restore || restore.ageMs > context.maxAgeMs.archiveRestore)
    problems.push(
      restore ? `the last restore was ${days(restore.ageMs)} ago` : "a restore was never tried and counted",
    );
  if (problems.length > 0)
    return [
      result(scope, "fail", problems.join("; "), evidence, {
        todo: "escapement store record-backup, escapement store rehearse-restore",
      }),
    ];
  return [
    result(
      scope,
      "pass",
      `a restore was tried ${days(restore!.ageMs)} ago, ${countedTables(restore!)} table(s) counted`,
      evidence,
    ),
  ];
}
