/**
 * A throw-away PostgreSQL server on 127.0.0.1, for the demo, tests and drills.
 *
 *   startPostgres ──▶ running ──stop, kill──▶ stopped ──start──▶ running
 *                                                └────remove──▶ gone
 *
 * It trusts every local connection, so it holds nothing worth stealing. When the
 * process that started it dies, by whatever signal, the server is shut down at
 * once and a temporary data folder is removed (see tether.ts).
 */
import { closeSync, existsSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { EscapementError } from "../base/errors.ts";
import { monotonicMs, sleep } from "../base/monotonic.ts";
import { Database } from "../store/database.ts";
import { freePort } from "./free-port.ts";
import { findPostgres, type PostgresBinaries } from "./postgres-binaries.ts";
import { initialiseData, plainEnvironment } from "./postgres-data.ts";
import { spawnTethered, type TetheredProcess, tetherFolder } from "./tether.ts";
import { ownedFolder, temporaryFolder, type UnixUser, unprivilegedUser } from "./unprivileged-user.ts";

export interface PostgresOptions {
  /** Holds `data/` and `server.log`; used again when it has a database cluster already. Default: a temporary one. */
  readonly directory?: string;
  /** Default: a free one. */
  readonly port?: number;
  /** Lines of postgresql.conf; `fsync` stays on unless it is turned off here. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Added to the server's environment, for example to give it a clock of its own. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** Time for a start, crash recovery included. */
const startDeadlineMs = 60_000;

/** Starts a server and waits until it answers. @throws E_PROGRAM_MISSING, E_UNAVAILABLE */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const user = unprivilegedUser();
  const binaries = findPostgres(user);
  const temporary = options.directory === undefined;
  const directory = options.directory ?? temporaryFolder("escapement-pg-", user);
  const untether = temporary ? tetherFolder(directory) : () => {};
  try {
    ownedFolder(directory, user);
    if (!existsSync(join(directory, "data/PG_VERSION"))) await initialiseData(binaries, directory, user);
    for (let attempt = 1; ; attempt++) {
      const server = new PostgresServer(
        binaries,
        directory,
        options.port ?? (await freePort()),
        user,
        untether,
        options,
      );
      try {
        await server.start();
        return server;
      } catch (error) {
        // Someone else took the port between our look and the server's start.
        if (
          options.port !== undefined ||
          attempt === 5 ||
          !server.logTail().includes("Address already in use")
        )
          throw error;
      }
    }
  } catch (error) {
    if (temporary) rmSync(directory, { recursive: true, force: true });
    untether();
    throw error;
  }
}

export class PostgresServer {
  readonly directory: string;
  readonly port: number;
  /** Superuser `postgres`, database `postgres`, no password. */
  readonly url: string;
  readonly binaries: PostgresBinaries;
  readonly #user: UnixUser | undefined;
  readonly #untether: () => void;
  readonly #environment: Readonly<Record<string, string>>;
  #process: TetheredProcess | undefined;

  /** Use {@link startPostgres}. */
  constructor(
    binaries: PostgresBinaries,
    directory: string,
    port: number,
    user: UnixUser | undefined,
    untether: () => void,
    options: PostgresOptions,
  ) {
    this.binaries = binaries;
    this.directory = directory;
    this.port = port;
    this.url = this.urlOf("postgres");
    this.#user = user;
    this.#untether = untether;
    this.#environment = options.environment ?? {};
    const settings = {
      ...options.settings,
      listen_addresses: "127.0.0.1",
      port: String(port),
      unix_socket_directories: "",
    };
    const lines = Object.entries(settings).map(
      ([name, value]) => `${name} = '${value.replaceAll("'", "''")}'\n`,
    );
    writeFileSync(join(this.data, "escapement.conf"), lines.join(""), { mode: 0o644 });
  }

  get data(): string {
    return join(this.directory, "data");
  }

  /** The main process while it runs. */
  get pid(): number | undefined {
    return this.running ? this.#process?.pid : undefined;
  }

  get running(): boolean {
    return this.#process !== undefined && this.#process.exit === undefined;
  }

  /** The URL of one of its databases. */
  urlOf(database: string): string {
    return `postgresql://postgres@127.0.0.1:${this.port}/${encodeURIComponent(database)}`;
  }

  /** Starts it (again), on the same port and data. @throws E_UNAVAILABLE with the server's own last words */
  async start(): Promise<void> {
    if (this.running) return;
    const deadline = monotonicMs() + startDeadlineMs;
    while (!(await this.#startOnce(deadline))) {
      // After a kill -9 the old backends need a moment to notice; until then the data is locked.
      const locked = /pre-existing shared memory block|lock file "postmaster.pid"/.test(this.logTail());
      if (!locked || monotonicMs() > deadline) {
        throw new EscapementError("E_UNAVAILABLE", {
          what: `PostgreSQL did not start: ${this.logTail().trim().split("\n").at(-1) ?? "no output"}`,
          hint: `its log is ${join(this.directory, "server.log")}`,
        });
      }
      await sleep(100);
    }
  }

  /** `fast` ends sessions and writes a checkpoint; `immediate` drops everything, as a power cut would. */
  async stop(mode: "fast" | "immediate" = "fast"): Promise<void> {
    await this.#end(mode === "fast" ? "SIGINT" : "SIGQUIT");
  }

  /** SIGKILL to the main process; its children end by themselves a moment later. */
  async kill(): Promise<void> {
    await this.#end("SIGKILL");
  }

  /** Stops it and deletes its folder. */
  async remove(): Promise<void> {
    await this.stop("immediate");
    rmSync(this.directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    this.#untether();
  }

  /** Makes a database, empty or as a copy of `template` (which nobody may be connected to). @returns its URL */
  async createDatabase(name: string, template = "template0"): Promise<string> {
    const database = new Database(this.url, { maxConnections: 1 });
    try {
      await database.query(`CREATE DATABASE ${quoted(name)} TEMPLATE ${quoted(template)}`);
    } finally {
      await database.end();
    }
    return this.urlOf(name);
  }

  /** The last 2,000 characters that the server wrote since its last start. */
  logTail(): string {
    const file = join(this.directory, "server.log");
    return existsSync(file) ? readFileSync(file, "utf8").slice(-2_000) : "";
  }

  /** @returns false when the server ended before it was ready. */
  async #startOnce(deadline: number): Promise<boolean> {
    const log = openSync(join(this.directory, "server.log"), "w", 0o644);
    try {
      this.#process = await spawnTethered({
        command: [join(this.binaries.folder, "postgres"), "-D", this.data],
        environment: { ...plainEnvironment(), ...this.#environment },
        user: this.#user,
        workingFolder: this.data,
        stdout: log,
        stderr: log,
        orphanSignal: "QUIT",
      });
    } finally {
      closeSync(log);
    }
    while (!this.#ready()) {
      if (!this.running) return false;
      if (monotonicMs() > deadline) {
        await this.kill();
        return false;
      }
      await sleep(20);
    }
    return true;
  }

  /** The server notes its state on the eighth line of its pid file; the first is the pid, so an old file does not count. */
  #ready(): boolean {
    let lines: string[];
    try {
      lines = readFileSync(join(this.data, "postmaster.pid"), "utf8").split("\n");
    } catch {
      return false;
    }
    return lines[0] === String(this.#process?.pid) && lines[7]?.trim() === "ready";
  }

  async #end(signal: "SIGINT" | "SIGQUIT" | "SIGKILL"): Promise<void> {
    const running = this.#process;
    if (!running || running.exit) return;
    running.kill(signal);
    // A server that is frozen or hangs in its shutdown must not hang us.
    const patience = setTimeout(() => running.kill("SIGKILL"), 20_000);
    await running.exited;
    clearTimeout(patience);
  }
}

function quoted(identifier: string): string {
  return `"${identifier.replaceAll('"', '""')}"`;
}
