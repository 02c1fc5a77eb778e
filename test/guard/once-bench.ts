/** What the tests of `escapement once` share: jobs that leave traces, and a look at the record of a run. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../support/until.ts";
import { type GuardDatabase, guardDatabase } from "./guard-database.ts";
import { type OnceSettings, startOnce } from "./once-process.ts";

export interface Beating {
  readonly command: string[];
  lines(): string[];
  /** Readings of the monotonic clock, in ms. */
  beats(): number[];
}

export interface Marking {
  readonly command: string[];
  times(): number;
}

export interface RunState {
  readonly state: string;
  readonly attempt: number;
  readonly exit_code: number | null;
  /** Its lease has not ended, by the database clock. */
  readonly live: boolean;
}

export class OnceBench {
  readonly db: GuardDatabase;
  readonly folder = mkdtempSync(join(tmpdir(), "escapement-once-"));

  private constructor(db: GuardDatabase) {
    this.db = db;
  }

  static async open(): Promise<OnceBench> {
    return new OnceBench(await guardDatabase());
  }

  async close(): Promise<void> {
    rmSync(this.folder, { recursive: true, force: true });
    await this.db.close();
  }

  /** A job that writes "start" and its pid, then the monotonic clock every 20 ms, until SIGTERM makes it write "term" and exit 9. */
  beating(name: string): Beating {
    const file = this.#file(name);
    const program =
      `const fs = require("node:fs"); const write = (x) => fs.appendFileSync(${JSON.stringify(file)}, x + "\\n"); write("start " + process.pid);` +
      `setInterval(() => write(Number(process.hrtime.bigint()) / 1e6), 20); process.on("SIGTERM", () => { write("term"); process.exit(9); });`;
    const lines = () => readFileSync(file, "utf8").split("\n").filter(Boolean);
    return {
      command: [process.execPath, "-e", program],
      lines,
      beats: () =>
        lines()
          .map(Number)
          .filter((beat) => !Number.isNaN(beat)),
    };
  }

  /** A job that leaves one line. */
  marking(name: string, then = "exit 0"): Marking {
    const file = this.#file(name);
    return {
      command: ["sh", "-c", `echo ran >> '${file}'; ${then}`],
      times: () => readFileSync(file, "utf8").split("\n").filter(Boolean).length,
    };
  }

  settings(job: string, more: Partial<OnceSettings> = {}): OnceSettings {
    return { url: this.db.url, job, ...more };
  }

  async run(settings: OnceSettings, command: readonly string[]) {
    const one = startOnce(settings, command);
    const exit = await one.exit;
    return { exit, ...one.output };
  }

  /** The latest run of the job. */
  async stateOf(job: string): Promise<RunState | undefined> {
    const { rows } = await this.db.pool.query<RunState>(
      "SELECT state, attempt, exit_code, lease_until > clock_timestamp() AS live FROM escapement_guard.once_run WHERE job = $1 ORDER BY started_at DESC LIMIT 1",
      [job],
    );
    return rows[0];
  }

  async begun(job: string): Promise<void> {
    await until(async () => (await this.stateOf(job))?.live, { what: `the run of ${job} to begin` });
  }

  async leaseOver(job: string): Promise<void> {
    await until(async () => !(await this.stateOf(job))?.live, { what: `the lease of ${job} to end` });
  }

  #file(name: string): string {
    const file = join(this.folder, name);
    writeFileSync(file, "");
    return file;
  }
}
