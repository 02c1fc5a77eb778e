/** A record store of its own, and short words for what leader, executors and people do to it. */
import { randomBytes, randomUUID } from "node:crypto";
import { onTestFinished } from "vitest";
import type { JobDefinition, ResourceClass } from "../../src/spec/job-definition.ts";
import { type ClaimedShard, claimShards } from "../../src/store/claim.ts";
import { type AttemptOutcome, completeAttempts } from "../../src/store/completion.ts";
import { Database } from "../../src/store/database.ts";
import { type ExecutionRow, findExecution } from "../../src/store/execution.ts";
import { registerExecutor } from "../../src/store/executor.ts";
import { type JobRow, requireJob } from "../../src/store/job.ts";
import { applyJob } from "../../src/store/job-change.ts";
import { acquireLeadership } from "../../src/store/leadership.ts";
import { openDue } from "../../src/store/opening.ts";
import { ensurePartitions, readDefinitions, writePlan } from "../../src/store/planning.ts";
import { grantRole, type StoreRole } from "../../src/store/roles.ts";
import { listShards, type ShardRow } from "../../src/store/shard.ts";
import { readStoreTime } from "../../src/store/store-time.ts";
import { freshDatabase } from "../support/database.ts";
import { digestOf } from "../support/job.ts";

export const deed = { person: "tester", reason: "because" };

export interface ExecutorChange {
  readonly leaseMs?: number;
  readonly slots?: { cpu: number; memory: number; io: number; control?: number };
  readonly host?: string;
  readonly bootId?: string;
}

export class Bench {
  readonly db: Database;
  readonly url: string;
  #leader: { holder: string; epoch: number } | undefined;

  private constructor(url: string) {
    this.url = url;
    this.db = new Database(url, { maxConnections: 12, applicationName: "store-test" });
  }

  /** Dropped at the end of the test. */
  static async open(options: { migrated?: boolean } = {}): Promise<Bench> {
    const { url, drop } = await freshDatabase({ migrated: options.migrated ?? true });
    const bench = new Bench(url);
    onTestFinished(async () => {
      await bench.db.end();
      await drop();
    });
    return bench;
  }

  /** The same store through a login that has only the named role of the store. */
  async as(role: StoreRole): Promise<Bench> {
    const login = `${role}_${randomBytes(4).toString("hex")}`;
    await this.db.query(`CREATE ROLE ${login} LOGIN`);
    await grantRole(this.db, login, role);
    const url = new URL(this.url);
    url.username = login;
    const other = new Bench(url.href);
    other.#leader = this.#leader;
    onTestFinished(async () => {
      await other.db.end();
      await this.db.query(`DROP ROLE ${login}`);
    });
    return other;
  }

  /** The same store by another way. The caller closes it. */
  through(url: string): Bench {
    return new Bench(url);
  }

  /** One value of one row. */
  async value<T>(text: string, values: unknown[] = []): Promise<T> {
    const { rows } = await this.db.query<Record<string, T>>(text, values);
    return Object.values(rows[0] ?? {})[0] as T;
  }

  async apply(definition: JobDefinition): Promise<JobRow> {
    await applyJob(this.db, definition, digestOf(definition), deed);
    return this.job(definition.name);
  }

  job(name: string): Promise<JobRow> {
    return requireJob(this.db, name);
  }

  now(): Promise<Date> {
    return readStoreTime(this.db);
  }

  /** So many milliseconds from the database's now, on a whole second. */
  async at(offsetMs: number): Promise<Date> {
    return new Date(Math.floor(((await this.now()).getTime() + offsetMs) / 1000) * 1000);
  }

  /** Takes the leadership for the rest of the test. */
  async lead(leaseMs = 600_000): Promise<{ holder: string; epoch: number }> {
    if (this.#leader) return this.#leader;
    const holder = randomUUID();
    const epoch = await acquireLeadership(this.db, { holder, node: "test", host: "test" }, leaseMs);
    if (epoch === null) throw new Error("another leader is alive");
    this.#leader = { holder, epoch };
    return this.#leader;
  }

  /** Plans fires at exactly these instants, past or future, and leaves the cursor after the last of them. */
  async plan(
    job: JobRow,
    fires: readonly Date[],
    change: { triggerType?: "schedule" | "misfire"; chainAfter?: Date | null; periodKey?: string } = {},
  ): Promise<number> {
    const { holder, epoch } = await this.lead();
    const current = await this.job(`${job.namespace}/${job.name}`);
    const [definition] = await readDefinitions(this.db, [{ jobId: current.jobId, version: current.version }]);
    await ensurePartitions(this.db, fires[0]!, fires.at(-1)!);
    let chainAfter = change.chainAfter ?? null;
    const planned = fires.map((fireTime) => {
      const fire = {
        fireTime,
        status: "planned" as const,
        triggerType: change.triggerType ?? ("schedule" as const),
        reason: null,
        periodKey: change.periodKey ?? null,
        chainAfter: change.triggerType === "misfire" ? chainAfter : null,
        definition: definition!,
      };
      chainAfter = fireTime;
      return fire;
    });
    const from = current.plannedUntil;
    const to = new Date(Math.max(from.getTime() + 1, fires.at(-1)!.getTime()));
    const result = await writePlan(this.db, holder, epoch, [
      { jobId: job.jobId, version: current.version, from, to, fires: planned },
    ]);
    return result.planned;
  }

  async executor(change: ExecutorChange = {}): Promise<string> {
    const incarnation = randomUUID();
    await registerExecutor(
      this.db,
      {
        incarnation,
        node: `executor-${incarnation.slice(0, 4)}`,
        host: change.host ?? "host",
        bootId: change.bootId ?? "boot",
        pid: 1,
        processStart: "1",
        version: "0",
      },
      change.leaseMs ?? 600_000,
      { cpu: 100, memory: 100, io: 100, control: 0, ...change.slots },
    );
    return incarnation;
  }

  /** Ends an executor's lease as the clock would. */
  async expire(incarnation: string): Promise<void> {
    await this.db.query(
      "UPDATE escapement.executor SET lease_until = clock_timestamp() - interval '1 second' WHERE incarnation = $1",
      [incarnation],
    );
  }

  claim(
    incarnation: string,
    change: { limit?: number; catchUp?: boolean; share?: number; class?: ResourceClass } = {},
  ): Promise<ClaimedShard[]> {
    return claimShards(this.db, {
      incarnation,
      class: change.class ?? "cpu",
      limit: change.limit ?? 100,
      catchUp: change.catchUp ?? false,
      catchUpShare: change.share ?? 0.5,
    });
  }

  complete(
    incarnation: string,
    claims: readonly ClaimedShard[],
    outcome: AttemptOutcome = "success",
    error: string | null = null,
  ): Promise<boolean[]> {
    return completeAttempts(
      this.db,
      incarnation,
      claims.map((claim) => ({ ...claim, outcome, delayMs: 0, rows: null, exitCode: null, error })),
    );
  }

  /** Opens, claims in both lanes, and ends everything claimable once. Returns the fire times in the order claimed. */
  async work(incarnation: string, outcome: AttemptOutcome = "success"): Promise<Date[]> {
    await openDue(this.db);
    const claims = [
      ...(await this.claim(incarnation, { catchUp: true })),
      ...(await this.claim(incarnation)),
    ];
    await this.complete(incarnation, claims, outcome);
    await openDue(this.db);
    return claims.map((claim) => claim.fireTime);
  }

  execution(job: JobRow, fireTime: Date): Promise<ExecutionRow | null> {
    return findExecution(this.db, job.jobId, fireTime);
  }

  shards(job: JobRow, fireTime: Date): Promise<ShardRow[]> {
    return listShards(this.db, job.jobId, fireTime);
  }

  /** The statuses of a job's executions, by fire time; revoked plans left out. */
  async statuses(job: JobRow): Promise<string[]> {
    const { rows } = await this.db.query<{ status: string }>(
      "SELECT status FROM escapement.execution WHERE job_id = $1 AND revoked_at IS NULL ORDER BY fire_time",
      [job.jobId],
    );
    return rows.map((row) => row.status);
  }

  /** The states of a job's live executions, by fire time. */
  async live(job: JobRow): Promise<string[]> {
    const { rows } = await this.db.query<{ state: string }>(
      "SELECT state FROM escapement.execution_live WHERE job_id = $1 ORDER BY fire_time",
      [job.jobId],
    );
    return rows.map((row) => row.state);
  }

  staleWrites(): Promise<string[]> {
    return this.db
      .query<{ what: string }>("SELECT what FROM escapement.stale_write ORDER BY stale_write_id")
      .then(({ rows }) => rows.map((row) => row.what));
  }
}
