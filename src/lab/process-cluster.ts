/**
 * A whole cluster of local processes: PostgreSQL, schedulers, executors, and
 * between each node and the store a network of its own that can be broken.
 *
 *   scheduler-1 ──proxy──┐
 *   scheduler-2 ──proxy──┤
 *   executor-1  ──proxy──┼──▶ PostgreSQL (database `escapement`)
 *   executor-2  ──proxy──┤
 *   executor-3  ──proxy──┘
 *
 * Process tier: everything shares one kernel and one real clock. Faults of the
 * network are made by the proxies, faults of clocks by a process-level clock.
 */
import { randomUUID } from "node:crypto";
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EscapementError } from "../base/errors.ts";
import { monotonicMs, sleep } from "../base/monotonic.ts";
import { Database } from "../store/database.ts";
import { migrate } from "../store/migrate.ts";
import { type ClusterShape, readyClusterFile, storeUrlVariable } from "./cluster-file.ts";
import { ClusterNode, type NodeRole } from "./cluster-node.ts";
import { packageRoot } from "./package-root.ts";
import { type PostgresServer, startPostgres } from "./postgres.ts";
import { ProcessClock } from "./process-clock.ts";
import { endProcessesWith, labVariable } from "./strays.ts";
import { type Direction, startTcpProxy } from "./tcp-proxy.ts";
import { tetherFolder } from "./tether.ts";

export interface ProcessClusterOptions extends Partial<ClusterShape> {
  /** A Cluster file to use as it is, instead of one made from the shape; its store must be `urlEnv: ESCAPEMENT_STORE_URL`. */
  readonly clusterFile?: string;
  /** Default: a temporary folder, removed by `down`. */
  readonly directory?: string;
  /** Lines of postgresql.conf. */
  readonly postgresSettings?: Readonly<Record<string, string>>;
  /** Added to the environment of every node. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Gives every node, and the store, a process-level clock. Default: false. */
  readonly clocks?: boolean;
  /** What is started with `scheduler|executor --cluster FILE --node NAME`. Default: this package's program. */
  readonly program?: readonly [string, ...string[]];
  /** Called after the store is migrated and before any node starts, for example to apply jobs. */
  readonly prepare?: (store: Database, url: string) => Promise<void>;
}

/** Time for a node from its start to its first answer. */
const readyDeadlineMs = 60_000;

/** Starts everything and waits until every node is ready. @throws E_PROGRAM_MISSING, E_UNAVAILABLE, E_BAD_DATA */
export async function startProcessCluster(options: ProcessClusterOptions = {}): Promise<ProcessCluster> {
  const directory = options.directory ?? mkdtempSync(join(tmpdir(), "escapement-cluster-"));
  // The store's user must reach its clock's file in here; nothing in it is secret.
  mkdirSync(join(directory, "logs"), { recursive: true });
  mkdirSync(join(directory, "clocks"), { recursive: true });
  for (const folder of [directory, join(directory, "clocks")]) chmodSync(folder, 0o755);
  const untether = options.directory === undefined ? tetherFolder(directory) : () => {};
  const cluster = new ProcessCluster(directory, options, untether);
  try {
    await cluster.up();
    return cluster;
  } catch (error) {
    await cluster.down();
    throw error;
  }
}

export class ProcessCluster {
  readonly directory: string;
  readonly nodes: ClusterNode[] = [];
  readonly #options: ProcessClusterOptions;
  readonly #untether: () => void;
  readonly #mark = `${labVariable}=${randomUUID()}`;
  #storeClock: ProcessClock | undefined;
  #server: PostgresServer | undefined;
  #store: Database | undefined;
  #file = "";
  #url = "";

  /** Use {@link startProcessCluster}. */
  constructor(directory: string, options: ProcessClusterOptions, untether: () => void) {
    this.directory = directory;
    this.#untether = untether;
    this.#options = options;
  }

  /** The PostgreSQL server, to stop, kill and start. */
  get server(): PostgresServer {
    return this.#server!;
  }

  /** A connection to the store that no fault of the network touches. */
  get store(): Database {
    return this.#store!;
  }

  /** The store's URL past all proxies. */
  get storeUrl(): string {
    return this.#url;
  }

  get clusterFile(): string {
    return this.#file;
  }

  get schedulers(): ClusterNode[] {
    return this.nodes.filter((node) => node.role === "scheduler");
  }

  get executors(): ClusterNode[] {
    return this.nodes.filter((node) => node.role === "executor");
  }

  /** @throws E_BAD_DATA when there is no such node */
  node(name: string): ClusterNode {
    const found = this.nodes.find((node) => node.name === name);
    if (found) return found;
    const names = this.nodes.map((node) => node.name).join(", ");
    throw new EscapementError("E_BAD_DATA", {
      what: `the lab has no node ${name}`,
      hint: `its nodes: ${names}`,
    });
  }

  /** Starts the store, then every node. */
  async up(): Promise<void> {
    const { clocks, postgresSettings, prepare } = this.#options;
    if (clocks) this.#storeClock = new ProcessClock(join(this.directory, "clocks/store"));
    this.#server = await startPostgres({
      ...(postgresSettings ? { settings: postgresSettings } : {}),
      ...(this.#storeClock ? { environment: this.#storeClock.environment } : {}),
    });
    this.#url = await this.#server.createDatabase("escapement");
    this.#store = new Database(this.#url, { applicationName: "lab", maxConnections: 2 });
    await migrate(this.#store);
    await prepare?.(this.#store, this.#url);
    const { file, definition } = await readyClusterFile(this.directory, this.#options);
    this.#file = file;
    for (const node of definition.scheduler.nodes) await this.#add("scheduler", node.name, node.http);
    for (const node of definition.executor.nodes) await this.#add("executor", node.name, node.http);
    await Promise.all(this.nodes.map((node) => node.start()));
    await Promise.all(this.nodes.map((node) => this.ready(node.name)));
  }

  /**
   * Waits until a node serves: a scheduler's HTTP answers, the store lists an executor's process.
   * @throws E_UNAVAILABLE with the end of its log, when it ends or takes too long
   */
  async ready(name: string): Promise<void> {
    const node = this.node(name);
    const deadline = monotonicMs() + readyDeadlineMs;
    while (!(await this.#serves(node))) {
      if (node.state === "stopped" || monotonicMs() > deadline) {
        throw new EscapementError("E_UNAVAILABLE", {
          what: `${name} ${node.state === "stopped" ? "ended" : "is not ready"}: ${node.logTail(500).trim()}`,
          hint: `its log is ${node.logFile}`,
        });
      }
      await sleep(50);
    }
  }

  /** Who holds the leadership by the store's clock; undefined when nobody does. */
  async leader(): Promise<{ readonly node: string; readonly epoch: number } | undefined> {
    const { rows } = await this.store.query<{ node: string; epoch: number }>(
      "SELECT node, epoch FROM escapement.leader WHERE holder IS NOT NULL AND expires_at > clock_timestamp()",
    );
    return rows[0];
  }

  /** `pause`: nothing arrives and nobody is told. `reset`: connections break, and new ones, too. Until `heal`. */
  cutNetwork(name: string, how: "pause" | "reset" = "pause", direction: Direction = "both"): void {
    const { proxy } = this.node(name);
    if (how === "pause") proxy.pause(direction);
    else proxy.cut();
  }

  heal(name: string): void {
    this.node(name).proxy.heal();
  }

  /** Steps the process-level clock of a node or of the `store`. @throws E_UNAVAILABLE without `clocks: true` */
  async setClock(name: string, offsetMs: number): Promise<void> {
    const clock = name === "store" ? this.#storeClock : this.node(name).clock;
    if (!clock) {
      throw new EscapementError("E_UNAVAILABLE", {
        what: `${name} has no clock of its own`,
        hint: "start the cluster with clocks: true",
      });
    }
    await clock.set(offsetMs);
  }

  /** How far the clock of a node or of the `store` is off; undefined where it has none of its own. */
  clockOffsetMs(name: string): number | undefined {
    return (name === "store" ? this.#storeClock : this.node(name).clock)?.offsetMs;
  }

  /**
   * Ends everything and removes the temporary folders.
   * @returns how many processes had to be killed because they outlived their node; 0 unless something is broken
   */
  async down(): Promise<{ readonly strays: number }> {
    for (const node of this.nodes) node.proxy.heal();
    // Executors get a moment to end their children in order; a supervisor ends them in any case.
    await Promise.all(this.executors.map((node) => node.stop(2_000)));
    await Promise.all(this.schedulers.map((node) => node.kill()));
    const supervisors = this.nodes.flatMap((node) =>
      node.pids.map((pid) => `ESCAPEMENT_SUPERVISOR_OF=${pid}:`),
    );
    const strays = await endProcessesWith([this.#mark, ...supervisors], 5_000);
    await Promise.all(this.nodes.map((node) => node.proxy.close()));
    await this.#store?.end();
    await this.#server?.remove();
    if (this.#options.directory === undefined)
      rmSync(this.directory, { recursive: true, force: true, maxRetries: 10 });
    this.#untether();
    return { strays };
  }

  async #add(
    role: NodeRole,
    name: string,
    http: { address: string; port: number } | undefined,
  ): Promise<void> {
    const proxy = await startTcpProxy({ port: this.server.port });
    const url = new URL(this.#url);
    url.port = String(proxy.port);
    const [variable, value] = this.#mark.split("=") as [string, string];
    this.nodes.push(
      new ClusterNode({
        name,
        role,
        command: [...this.#program(), role, "--cluster", this.#file, "--node", name],
        environment: {
          ...process.env,
          ...this.#options.environment,
          [storeUrlVariable]: url.href,
          [variable]: value,
        },
        logFile: join(this.directory, "logs", `${name}.log`),
        proxy,
        clock: this.#options.clocks ? new ProcessClock(join(this.directory, "clocks", name)) : undefined,
        httpUrl: http && `http://${http.address}:${http.port}`,
      }),
    );
  }

  #program(): readonly [string, ...string[]] {
    if (this.#options.program) return this.#options.program;
    return [process.execPath, join(packageRoot() ?? ".", "bin/escapement.mjs")];
  }

  async #serves(node: ClusterNode): Promise<boolean> {
    if (node.role === "scheduler") {
      const answer = await fetch(`${node.httpUrl}/healthz`, { signal: AbortSignal.timeout(2_000) }).catch(
        () => undefined,
      );
      await answer?.body?.cancel();
      return answer !== undefined;
    }
    const { rows } = await this.store.query(
      "SELECT 1 FROM escapement.executor WHERE pid = $1 AND state = 'active'",
      [node.pid],
    );
    return rows.length > 0;
  }
}
