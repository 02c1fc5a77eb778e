/** The good cluster with everything that a server of its own is needed for: a standby, and logins that are nobody else's. */

import { sourceDigests } from "../../src/checklist/items/06-idempotent-writes.ts";
import { startPostgres } from "../../src/lab/postgres.ts";
import { rehearsalAction } from "../../src/store/checklist/job-rehearsals.ts";
import { Database } from "../../src/store/database.ts";
import { migrate } from "../../src/store/migrate.ts";
import { recordOperation } from "../../src/store/operation.ts";
import { until } from "../support/until.ts";
import { fillStore, goodJobs, resolved } from "./good-cluster.ts";
import { type GoodFiles, goodFiles } from "./good-sources.ts";
import { openSessions } from "./sessions.ts";
import { startStandby } from "./standby.ts";

export interface WholeCluster {
  readonly url: string;
  readonly db: Database;
  /** The same store under a login of the role escapement_reader. */
  readonly onlooker: Database;
  readonly files: GoodFiles;
  end(): Promise<void>;
}

/** About ten seconds. Every item passes on it, with the hosts of fake-host.ts. */
export async function wholeCluster(): Promise<WholeCluster> {
  const files = goodFiles();
  const primary = await startPostgres({ settings: { fsync: "off", timezone: "UTC" } });
  const db = new Database(primary.url, { maxConnections: 4 });
  await migrate(db);
  await fillStore(db);
  await fillMonthEnds(db);
  await fillRehearsals(db, files.root);
  const sessions = await openSessions(primary.url, db);
  const standby = await startStandby(primary);
  await until(
    async () =>
      (
        await db.query(
          "SELECT 1 FROM pg_stat_replication WHERE state = 'streaming' AND replay_lsn IS NOT NULL",
        )
      ).rows.length > 0,
    { what: "the standby to follow" },
  );
  await db.query("CREATE ROLE onlooker LOGIN IN ROLE escapement_reader");
  const url = new URL(primary.url);
  url.username = "onlooker";
  const onlooker = new Database(url.href, { maxConnections: 2 });
  return {
    url: primary.url,
    db,
    onlooker,
    files,
    end: async () => {
      await onlooker.end();
      await sessions.end();
      await db.end();
      await standby.remove();
      await primary.remove();
      files.remove();
    },
  };
}

/** The report of fillStore is two days old; the one of the last day of the month before gives it a peak. */
async function fillMonthEnds(db: Database): Promise<void> {
  await db.query(
    `INSERT INTO escapement.execution (job_id, fire_time, trigger_type, status, job_version, digest, shard_count, schedule_time, planned_at,
       opened_at, actual_start_time, actual_end_time, duration_ms, missed_seconds, epoch)
     SELECT j.job_id, t, 'schedule', 'success', 1, 'd', 1, t, t, t, t, t + interval '40 seconds', 40000, 0, 1
     FROM escapement.job j, (SELECT date_trunc('month', clock_timestamp() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' - interval '11 hours 45 minutes' AS t) n
     WHERE j.name = 'report' ON CONFLICT DO NOTHING`,
  );
}

async function fillRehearsals(db: Database, root: string): Promise<void> {
  for (const job of goodJobs()) {
    const found = resolved(job);
    const { rows } = await db.query<{ id: number }>(
      "SELECT job_id AS id FROM escapement.job WHERE name = $1",
      [job.name],
    );
    await recordOperation(db, {
      person: "tester",
      reason: "the repeat changed nothing",
      action: rehearsalAction,
      jobId: rows[0]!.id,
      after: {
        verdict: "pass",
        reason: "the repeat changed nothing",
        digest: found.digest,
        sources: await sourceDigests(root, found),
        changed: ["bonus"],
        repeated: [],
      },
    });
  }
}
