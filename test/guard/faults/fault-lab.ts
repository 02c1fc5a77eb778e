/** Runs one job, hurts it at one point, starts its successor, and lets the zombie finish what it can. */
import { type ChildProcess, fork } from "node:child_process";
import { rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import pg from "pg";
import { Database } from "../../../src/store/database.ts";
import { installGuard } from "../../../src/store/guard-schema.ts";
import { type FreshDatabase, freshDatabase } from "../../support/database.ts";
import { until } from "../../support/until.ts";
import { PaymentEndpoint, type RequestStop } from "./endpoint.ts";
import { type JobEnd, type JobTask, partitionOf, runJob, tableOf } from "./scenarios.ts";
import { StatementProxy, type StopPoint } from "./statement-proxy.ts";

/** kill: SIGKILL. freeze: SIGSTOP until the successor has ended. cut: every connection is reset. outage: and stays away. */
export const faults = ["kill", "freeze", "cut", "outage"] as const;
export type Fault = (typeof faults)[number];

export type Point =
  | { readonly at: "statement"; readonly stop: StopPoint }
  | { readonly at: "request"; readonly stop: Omit<RequestStop, "stem"> };

export const people = ["ada", "bob"] as const;
/** Short for the process that is hurt, so that nobody waits long for it. */
const victimLeaseMs = 400;
/** Long for its successor: a slow machine must not look like a fault. */
const successorLeaseMs = 15_000;

interface JobReport {
  readonly end?: JobEnd;
  readonly error?: string;
}

export class FaultLab {
  readonly endpoint = new PaymentEndpoint();
  db!: pg.Pool;
  #endpointUrl = "";
  #fresh!: FreshDatabase;
  #jobFile = "";
  readonly #idle: ChildProcess[] = [];
  #stems = 0;

  /** @param plant SQL that breaks a function of the guard on purpose */
  static async open(plant?: string): Promise<FaultLab> {
    const lab = new FaultLab();
    lab.#fresh = await freshDatabase({ migrated: false });
    const database = new Database(lab.#fresh.url);
    await installGuard(database);
    await database.end();
    lab.db = new pg.Pool({ connectionString: lab.#healthyUrl(), max: 10 });
    lab.db.on("error", () => {});
    lab.db.on("connect", (client) => client.on("error", () => {}));
    await lab.db.query(`
      CREATE TABLE reward (stem text, person text, amount int);
      CREATE SEQUENCE attempt_token;
      CREATE TABLE report (stem text, person text, maker text, version bigint);
      CREATE TABLE report_part (stem text, person text, maker text) PARTITION BY LIST (stem)`);
    await lab.db.query("SELECT escapement_guard.live_view('report_live', 'report', 'version', '{stem}')");
    if (plant !== undefined) await lab.db.query(plant);
    // A holder that is frozen inside a transaction is cut off by the server, as the manual asks for.
    await lab.db.query(
      `ALTER DATABASE ${new URL(lab.#fresh.url).pathname.slice(1)} SET idle_in_transaction_session_timeout = '500ms'`,
    );
    lab.#endpointUrl = await lab.endpoint.listen();
    lab.#jobFile = fileURLToPath(
      new URL(`../../../node_modules/.cache/escapement/job-process.${process.pid}.mjs`, import.meta.url),
    );
    await build({
      entryPoints: [fileURLToPath(new URL("job-process.ts", import.meta.url))],
      outfile: lab.#jobFile,
      bundle: true,
      packages: "external",
      platform: "node",
      format: "esm",
      loader: { ".sql": "text" },
      logLevel: "warning",
    });
    return lab;
  }

  /** Not cut off when idle in a transaction, unlike the process that is hurt. */
  #healthyUrl(): string {
    const url = new URL(this.#fresh.url);
    url.searchParams.set("options", "-c idle_in_transaction_session_timeout=60s");
    return url.href;
  }

  async close(): Promise<void> {
    for (const child of this.#idle) child.kill("SIGKILL");
    await this.endpoint.close();
    await this.db.end();
    await this.#fresh.drop();
    rmSync(this.#jobFile, { force: true });
  }

  /** A job of this scenario with keys of its own. */
  async task(scenario: string): Promise<JobTask> {
    const stem = `${scenario}/2026-07/t${++this.#stems}`;
    if (scenario === "replace-partition") {
      await this.db.query(
        `CREATE TABLE ${partitionOf(stem)} PARTITION OF report_part FOR VALUES IN ('${stem}')`,
      );
    }
    if (scenario === "replace-table")
      await this.db.query(`CREATE TABLE ${tableOf(stem)} (person text, maker text)`);
    const task = {
      scenario,
      url: this.#healthyUrl(),
      endpoint: this.#endpointUrl,
      stem,
      people,
      leaseMs: successorLeaseMs,
      isVictim: false,
    };
    // Something old that readers see until the switch.
    if (scenario.startsWith("replace-")) await runJob(task);
    return task;
  }

  /** How many statements and requests the scenario has when nothing goes wrong. */
  async measure(scenario: string): Promise<{ statements: number; requests: number }> {
    const task = await this.task(scenario);
    const proxy = new StatementProxy(new URL(task.url));
    const url = await proxy.listen(new URL(this.#fresh.url));
    const end = await runJob({ ...task, url, isVictim: true, leaseMs: 2_000 });
    if (end !== "complete") throw new Error(`${scenario} ended ${end} without any fault`);
    await proxy.close();
    return {
      statements: proxy.statements,
      requests: this.endpoint.requestsOf(task.stem),
    };
  }

  /**
   * One trial. @returns the task, the statement that was hit, and what the successor said in the end;
   * undefined when the job ended before the point was reached.
   * @param patience makes the lease of the process that is hurt longer
   */
  async run(
    scenario: string,
    point: Point,
    fault: Fault,
    look: (task: JobTask) => Promise<void>,
    patience = 1,
  ) {
    const task = await this.task(scenario);
    const proxy = new StatementProxy(new URL(task.url), point.at === "statement" ? point.stop : undefined);
    const child = await this.#child();
    const url = await proxy.listen(new URL(this.#fresh.url));
    const hit =
      point.at === "statement"
        ? proxy.hit
        : this.endpoint
            .stopAt({ ...point.stop, stem: task.stem })
            .then((release) => ({ release, text: "HTTP request" }));
    const report = this.#report(child);
    child.send({ ...task, url, leaseMs: victimLeaseMs * patience, isVictim: true });
    const reached = await Promise.race([hit, report]);
    if (!("release" in reached)) {
      this.#idle.push(child);
      await proxy.close();
      return undefined;
    }
    let end: JobEnd;
    if (fault === "freeze") {
      child.kill("SIGSTOP");
      await look(task);
      end = await this.#succeed(task);
      reached.release("go");
      child.kill("SIGCONT");
      await report;
      this.#idle.push(child);
    } else if (fault === "kill") {
      child.kill("SIGKILL");
      proxy.cut();
      reached.release("go");
      await look(task);
      end = await this.#succeed(task);
    } else {
      proxy.refuses = fault === "outage";
      proxy.cut();
      reached.release("cut");
      await report;
      this.#idle.push(child);
      await look(task);
      end = await this.#succeed(task);
    }
    await proxy.close();
    return { task, text: reached.text, end };
  }

  /** Starts the job again, as its scheduler would, until it has nothing more to say. */
  async #succeed(task: JobTask): Promise<JobEnd> {
    let end: JobEnd = "again";
    await until(
      async () => {
        end = await runJob(task);
        return end !== "again";
      },
      { what: `the successor of ${task.stem}`, everyMs: 100, deadlineMs: 20_000 },
    );
    return end;
  }

  async #child(): Promise<ChildProcess> {
    const idle = this.#idle.pop();
    if (idle?.connected) return idle;
    const child = fork(this.#jobFile, { stdio: ["ignore", "ignore", "inherit", "ipc"] });
    await new Promise((resolve) => child.once("message", resolve));
    return child;
  }

  async #report(child: ChildProcess): Promise<JobReport> {
    return await new Promise((resolve) => {
      const onMessage = (report: JobReport) => {
        child.off("exit", onExit);
        resolve(report);
      };
      const onExit = () => {
        child.off("message", onMessage);
        resolve({ error: "killed" });
      };
      child.once("message", onMessage);
      child.once("exit", onExit);
    });
  }
}
