/** Item 7: who dies gives back what it held, and the database's clock says when. */
import { readFunctions } from "../../store/checklist/functions.ts";
import { readLongWaits, readOverdue, tryLease } from "../../store/checklist/lease-trial.ts";
import { type Part, readLivingParts, readLoginSettings } from "../../store/checklist/logins.ts";
import type { CheckContext } from "../context.ts";
import type { ChecklistItem, Evidence, Result } from "../item.ts";
import { limitProblems, limitSettings } from "./login-limits.ts";
import { inParts, openStore } from "./parts.ts";
import { clusterScope, computed, queryEvidence, result, trialEvidence } from "./verdicts.ts";

export const leases: ChecklistItem<CheckContext> = {
  number: 7,
  id: "leases",
  question:
    "Does everything that is held have a lease by the database's clock, and is it given back when its holder dies?",
  why: "Without reclaim one crash blocks a shard for ever. With a lease by the wrong clock, or behind the lock of a dead client, two hold the same thing or nobody does.",
  how: "The functions that decide leases are read: clock_timestamp() in their predicates, the fence token in their writes. A lease is let end within a statement that is rolled back: its holder may then do nothing, and its shard is free. The logins that are in use must have an idle-in-transaction limit below the lease and keepalives of 20 s at most. No lease may be long overdue, and none of ours may wait behind a lock.",
  check: (context) =>
    inParts(context, {
      "the functions": () => sources(context),
      "what happens when a lease ends": () => trial(context),
      "the settings of leases": async () => settings(context),
      "the limits of the logins": () => logins(context),
      "overdue leases and locks": () => reclaim(context),
    }),
};

/** What each must show, comments left out. */
const shows: Readonly<Record<string, readonly RegExp[]>> = {
  leader_acquire: [/expires_at < clock_timestamp\(\)/],
  leader_renew: [/expires_at > clock_timestamp\(\)/],
  leader_fence: [/expires_at > clock_timestamp\(\)/],
  executor_renew: [/lease_until > clock_timestamp\(\)/],
  claim: [/lease_until > clock_timestamp\(\)/, /FOR UPDATE SKIP LOCKED/],
  complete: [/lease_until > clock_timestamp\(\)/, /fence_token = a\.token/],
  reap: [/lease_until < clock_timestamp\(\)/],
  checkpoint: [/lease_until > clock_timestamp\(\)/, /fence_token = p_token/],
};
/** All of them stand still within a transaction, and a frozen one would be right for ever. */
const standingClocks =
  /\b(now\s*\(\s*\)|current_timestamp|transaction_timestamp|statement_timestamp|localtimestamp)/i;

const restore = "escapement store status: restore the functions that differ";

async function sources(context: CheckContext): Promise<Result[]> {
  const names = Object.keys(shows);
  const looked = await readFunctions(openStore(context), names);
  const problems = names.flatMap((name) => {
    const row = looked.rows.find((one) => one.name === name);
    if (!row) return [`there is no function ${name}`];
    const source = row.source.replace(/--.*$/gm, "");
    const standing = standingClocks.exec(source);
    if (standing) return [`${name} asks ${standing[1]}, which stands still within a transaction`];
    const missing = shows[name]!.filter((pattern) => !pattern.test(source)).map(
      (pattern) => `${name} does not show ${pattern.source.replaceAll("\\", "")}`,
    );
    // What it shows may stand where it is never reached.
    return missing.length > 0 || row.asMigrated ? missing : [`${name} is not as the migrations made it`];
  });
  const shown = looked.rows.map(({ signature, md5, asMigrated }) => ({ signature, md5, asMigrated }));
  const evidence = [queryEvidence(context, looked, shown)];
  const scope = clusterScope(context);
  if (problems.length > 0) return [result(scope, "fail", problems.join("; "), evidence, { todo: restore })];
  return [result(scope, "pass", `${names.length} functions decide by clock_timestamp()`, evidence)];
}

async function trial(context: CheckContext): Promise<Result[]> {
  const tried = await tryLease(openStore(context));
  const evidence = [trialEvidence(context, tried)];
  const { renewed, claimed, completed, oldToken, reaped, free } = tried.found;
  const faults: [boolean, string][] = [
    [renewed, "a lease that had ended was renewed"],
    [claimed, "an executor without a lease could claim"],
    [completed, "an executor without a lease could end a shard"],
    [oldToken, "an older fence token could end a shard"],
    [!reaped || !free, "the shard of a dead executor was not given back"],
  ];
  const problems = faults.flatMap(([is, text]) => (is ? [text] : []));
  const scope = clusterScope(context);
  if (problems.length > 0) return [result(scope, "fail", problems.join("; "), evidence, { todo: restore })];
  return [
    result(
      scope,
      "pass",
      "after the end of its lease an executor could do nothing, and its shard was free",
      evidence,
    ),
  ];
}

function settings(context: CheckContext): Result[] {
  const scope = clusterScope(context);
  const cluster = context.definitions.cluster;
  if (!cluster) return [result(scope, "unknown", "no cluster file says how leases are kept", [])];
  const { scheduler, executor } = cluster.definition;
  const parts = { scheduler, executor };
  const location = { file: cluster.file, line: cluster.line };
  const evidence = [
    computed(
      context,
      "renewals within a lease",
      Object.entries(parts)
        .map(
          ([part, one]) =>
            `${part}: lease ${one.leaseMs} ms, renewed every ${one.renewEveryMs} ms, trusted until ${one.stopEarlyMs} ms before its end`,
        )
        .join("\n"),
    ),
  ];
  const rare = Object.entries(parts).filter(([, one]) => one.renewEveryMs * 3 > one.leaseMs);
  if (rare.length === 0)
    return [
      result(scope, "pass", "leases are renewed three times within their length", evidence, { location }),
    ];
  const message = `${rare.map(([part]) => part).join(" and ")}: two renewals that fail end the lease`;
  return [
    result(scope, "fail", message, evidence, { todo: "renew at least three times within a lease", location }),
  ];
}

async function logins(context: CheckContext): Promise<Result[]> {
  const db = openStore(context);
  const looked = await readLoginSettings(db, limitSettings);
  const living = await readLivingParts(db, context.maxAgeMs.sample);
  const evidence = [queryEvidence(context, looked), queryEvidence(context, living)];
  const scope = clusterScope(context);
  const unseen = unseenParts(living.rows[0]!, looked.rows);
  const failed: string[] = [];
  const used = new Set(looked.rows.map(({ login }) => login));
  for (const login of used) {
    const problems = limitProblems(
      looked.rows.filter((row) => row.login === login),
      shortestLeaseMs(context),
    );
    failed.push(...problems.failed.map((text) => `${login}: ${text}`));
    if (problems.unseen.length > 0) unseen.push(`${login}: nobody may see ${problems.unseen.join(", ")}`);
  }
  const todo =
    "give each part a login of its own, no superuser: escapement store grant LOGIN --as ROLE sets its limits; then restart what uses it";
  if (failed.length > 0) return [result(scope, "fail", failed.join("; "), evidence, { todo })];
  if (unseen.length > 0) return [result(scope, "unknown", unseen.join("; "), evidence, { todo })];
  return [result(scope, "pass", `${[...used].join(", ")} lose their locks in time`, evidence)];
}

function unseenParts(
  living: { readonly schedulers: number; readonly executors: number },
  rows: readonly { readonly part: Part }[],
): string[] {
  const seen = (part: Part) => rows.some((row) => row.part === part);
  const missing: string[] = [];
  if (!seen("scheduler"))
    missing.push(living.schedulers > 0 ? "sessions of schedulers cannot be seen" : "no scheduler runs");
  if (!seen("executor"))
    missing.push(living.executors > 0 ? "sessions of executors cannot be seen" : "no executor runs");
  return missing;
}

function shortestLeaseMs(context: CheckContext): number {
  const { scheduler, executor } = context.definitions.cluster?.definition ?? {};
  return Math.min(scheduler?.leaseMs ?? 15_000, executor?.leaseMs ?? 15_000);
}

async function reclaim(context: CheckContext): Promise<Result[]> {
  const db = openStore(context);
  const leaseMs = shortestLeaseMs(context);
  // One lease is waited for after the store was away, and a minute is more than any reaper sleeps.
  const overdue = await readOverdue(db, leaseMs + 60_000);
  const waits = await readLongWaits(db, leaseMs);
  const evidence: Evidence[] = [queryEvidence(context, overdue), queryEvidence(context, waits)];
  const problems = [
    ...overdue.rows.map(
      (row) =>
        `the lease of ${row.node} ended ${Math.round(row.overdueMs / 1_000)} s ago and ${row.shards} shard(s) still wait for it`,
    ),
    ...waits.rows.map(
      (row) =>
        `${row.application} (${row.pid}) has waited ${Math.round(row.waitedMs / 1_000)} s behind ${row.blockedBy.join(", ")}`,
    ),
  ];
  const scope = clusterScope(context);
  if (problems.length > 0) {
    const todo = "see that a scheduler leads; end the session that holds the lock with pg_terminate_backend";
    return [result(scope, "fail", problems.join("; "), evidence, { todo })];
  }
  return [result(scope, "pass", "no lease is overdue and nobody waits behind a lock", evidence)];
}
