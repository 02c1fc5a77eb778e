/** A database, a cluster file, jobs by hand and real executors for one test file or test. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { digest } from "../../src/spec/digest.ts";
import type { JobDefinition } from "../../src/spec/job-definition.ts";
import { Database } from "../../src/store/database.ts";
import { type ExecutionRow, listExecutions } from "../../src/store/execution.ts";
import { requireJob } from "../../src/store/job.ts";
import { applyJob } from "../../src/store/job-change.ts";
import { runManually } from "../../src/store/manual-run.ts";
import { type AttemptRow, listAttempts, listShards, type ShardRow } from "../../src/store/shard.ts";
import { freshDatabase } from "../support/database.ts";
import { type RunningProcess, startEscapement } from "../support/processes.ts";
import { until } from "../support/until.ts";

export interface WorkshopOptions {
  readonly lease?: string;
  readonly renewEvery?: string;
  readonly stopEarly?: string;
  readonly grace?: string;
  readonly slots?: { readonly cpu: number; readonly memory: number; readonly io: number };
  readonly nodes?: readonly string[];
  readonly logs?: { readonly directory?: string; readonly maxFile?: string; readonly keepFiles?: number };
  readonly http?: { readonly address: string; readonly port: number };
  /** What the executors use in place of the database's own URL. */
  readonly storeUrl?: (url: string) => string;
}

/** One execution of one job, started by hand. */
export interface Run {
  readonly jobId: number;
  readonly fireTime: Date;
}

const person = { person: "tester", reason: "test" };

export class Workshop {
  readonly url: string;
  readonly db: Database;
  readonly folder: string;
  readonly clusterFile: string;
  readonly #drop: () => Promise<void>;

  private constructor(url: string, drop: () => Promise<void>, options: WorkshopOptions) {
    this.url = url;
    this.#drop = drop;
    this.db = new Database(url, { maxConnections: 3, applicationName: "workshop" });
    this.folder = mkdtempSync(join(tmpdir(), "workshop-"));
    this.clusterFile = join(this.folder, "cluster.yaml");
    writeFileSync(this.clusterFile, clusterYaml(options, options.storeUrl?.(url) ?? url));
  }

  /** Closed, with everything in it, at the end of the test. */
  static async open(options: WorkshopOptions = {}): Promise<Workshop> {
    const { url, drop } = await freshDatabase({ migrated: true });
    const workshop = new Workshop(url, drop, options);
    onTestFinished(() => workshop.#close());
    return workshop;
  }

  /** Starts an executor; waits until it is registered unless told otherwise. */
  async executor(
    options: { node?: string; environment?: Record<string, string | undefined>; wait?: boolean } = {},
  ): Promise<RunningProcess> {
    const node = options.node ?? "worker-1";
    const started = await startEscapement(["executor", "--cluster", this.clusterFile, "--node", node], {
      environment: { ESCAPEMENT_LOG_LEVEL: "debug", ...options.environment },
      workingFolder: this.folder,
    });
    if (options.wait !== false) await started.seen(/executor registered/);
    return started;
  }

  /** Applies a job whose command is a shell script, unless `command` is given. */
  async job(name: string, script: string, more: Partial<JobDefinition> = {}): Promise<void> {
    const definition = jobDefinition(name, script, more);
    await applyJob(this.db, definition, digest(definition), person);
  }

  /** Runs a job now. */
  async run(name: string, options: { period?: string } = {}): Promise<Run> {
    const job = await requireJob(this.db, name);
    const { fireTime } = await runManually(this.db, job, { ...person, ...options });
    return { jobId: job.jobId, fireTime };
  }

  async execution(run: Run): Promise<ExecutionRow> {
    const rows = await listExecutions(this.db, { jobId: run.jobId });
    return rows.find((row) => row.fireTime.getTime() === run.fireTime.getTime())!;
  }

  shards(run: Run): Promise<ShardRow[]> {
    return listShards(this.db, run.jobId, run.fireTime);
  }

  attempts(run: Run): Promise<AttemptRow[]> {
    return listAttempts(this.db, run.jobId, run.fireTime);
  }

  /** Waits until the execution has one of these statuses. */
  async ended(run: Run, status: string = "success", deadlineMs = 20_000): Promise<ExecutionRow> {
    return until(
      async () => {
        const row = await this.execution(run);
        return row?.status === status && row;
      },
      { what: `execution ${status}`, deadlineMs },
    );
  }

  /** How often writes were refused, and what they were. */
  async staleWrites(): Promise<string[]> {
    const { rows } = await this.db.query<{ what: string }>(
      "SELECT what FROM escapement.stale_write ORDER BY stale_write_id",
    );
    return rows.map((row) => row.what);
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  /** What scripts have written into a file of the folder, by line. */
  lines(name: string): string[] {
    const path = this.path(name);
    return existsSync(path) ? readFileSync(path, "utf8").split("\n").filter(Boolean) : [];
  }

  /** Everything in the log file of one job. */
  jobLog(name: string, node = "worker-1"): string {
    const folder = join(this.folder, "logs", node, "default");
    if (!existsSync(folder)) return "";
    return readdirSync(folder)
      .filter((file) => file.startsWith(`${name}.log`))
      .map((file) => readFileSync(join(folder, file), "utf8"))
      .join("");
  }

  async #close(): Promise<void> {
    await this.db.end();
    await this.#drop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** A definition as `jobs apply` would make it from a file. */
export function jobDefinition(
  name: string,
  script: string,
  more: Partial<JobDefinition> = {},
): JobDefinition {
  return {
    namespace: "default",
    name,
    command: ["/bin/sh", "-c", script],
    environment: {},
    schedule: { kind: "manual" },
    timeZone: "UTC",
    misfire: { policy: "run-now", thresholdMs: 60_000 },
    blocking: { policy: "allow" },
    catchUp: { maxFires: 3, keep: "oldest" },
    retry: { maxAttempts: 3, delaysMs: [100] },
    leaseMs: 60_000,
    timeoutMs: 60_000,
    shards: { by: "none" },
    resources: { class: "cpu", peakMemoryBytes: 1 << 20 },
    effects: [],
    onStoreLoss: "kill",
    ...more,
  };
}

function clusterYaml(options: WorkshopOptions, url: string): string {
  const { lease = "6s", renewEvery = "1s", stopEarly = "1500ms", grace = "10s" } = options;
  const { cpu, memory, io } = options.slots ?? { cpu: 4, memory: 2, io: 2 };
  const nodes = (options.nodes ?? ["worker-1"]).map(
    (name) => `      - name: ${name}
        slots: { cpu: ${cpu}, memory: ${memory}, io: ${io} }
        workDirectory: work/${name}
${options.http ? `        http: { address: ${options.http.address}, port: ${options.http.port} }\n` : ""}`,
  );
  const { directory = "logs", maxFile = "1MiB", keepFiles = 3 } = options.logs ?? {};
  return `apiVersion: escapement/v1
kind: Cluster
metadata: { name: workshop }
spec:
  store: { url: "${url}" }
  scheduler:
    nodes: [{ name: s, http: { address: 127.0.0.1, port: 1 } }]
  executor:
    lease: ${lease}
    renewEvery: ${renewEvery}
    stopEarly: ${stopEarly}
    grace: ${grace}
    nodes:
${nodes.join("")}  logs: { directory: ${directory}, maxFile: ${maxFile}, keepFiles: ${keepFiles} }
`;
}
