/** What a torture cluster is doing right now: who leads, who runs what, who waits for a lock. */
import type { LiveClaim, Witness } from "../../src/chaos/witness.ts";
import type { ClusterNode } from "../../src/lab/cluster-node.ts";
import type { ProcessCluster } from "../../src/lab/process-cluster.ts";
import { Database, type Queryable } from "../../src/store/database.ts";
import type { Phase } from "./fault-plan.ts";

export class ClusterView {
  readonly cluster: ProcessCluster;
  readonly witness: Witness;
  /** Past all proxies, so that no fault but the store's own touches it. */
  readonly db: Database;
  /** Incarnations of each executor process, as long as we remember. */
  readonly #incarnations = new Map<number, Set<string>>();
  #leader: string | undefined;

  constructor(cluster: ProcessCluster, witness: Witness) {
    this.cluster = cluster;
    this.witness = witness;
    this.db = new Database(cluster.storeUrl, {
      applicationName: "torture",
      maxConnections: 6,
      connectTimeoutMs: 2_000,
    });
  }

  get storeIsDown(): boolean {
    return !this.cluster.server.running;
  }

  /** Asks the store; while it is away the last answer stands. */
  async refresh(): Promise<void> {
    try {
      const { rows } = await this.db.query<{ incarnation: string; pid: number }>(
        "SELECT incarnation, pid FROM escapement.executor WHERE state IN ('active', 'draining')",
      );
      for (const { incarnation, pid } of rows) {
        const known = this.#incarnations.get(pid) ?? new Set();
        this.#incarnations.set(pid, known.add(incarnation));
      }
      this.#leader = (await this.cluster.leader())?.node;
    } catch {
      // The store is down or just going down.
    }
  }

  /** Names of all incarnations that the running process of a node has had. */
  incarnationsOf(node: ClusterNode): string[] {
    return [...(this.#incarnations.get(node.pid ?? -1) ?? [])];
  }

  /** Attempts that run on a node now. */
  liveOn(node: ClusterNode): LiveClaim[] {
    const owners = new Set(this.incarnationsOf(node));
    return this.witness.live().filter((claim) => owners.has(claim.owner));
  }

  /** The leader by the last {@link refresh}, if its process lives. */
  get leader(): ClusterNode | undefined {
    return this.cluster.schedulers.find((node) => node.name === this.#leader && node.state === "running");
  }

  /** Where a fault on this node would strike now, by the last {@link refresh} and the witness. */
  phaseOf(node: ClusterNode, aim: Phase): Phase {
    if (this.storeIsDown) return "store-down";
    if (node.role === "scheduler") {
      if (!this.#leader) return "leaderless";
      return node.name === this.#leader ? "leader-idle" : "standby";
    }
    const live = this.liveOn(node);
    const acted = live.some((claim) => claim.acted);
    const running = live.some((claim) => !claim.acted);
    if (acted && (aim === "executor-acted" || !running)) return "executor-acted";
    return running ? "executor-running" : "executor-idle";
  }

  /**
   * Locks rows of the store and waits until the process of a node stands still
   * before them, in the middle of a statement; keeps the rows locked while `strike` runs.
   * @param lock a SELECT … FOR UPDATE
   * @param statements pieces of statements, one of which must wait, for example `escapement.plan(`
   * @returns false if nobody came within `patienceMs`
   */
  async strikeInside(
    lock: { readonly text: string; readonly values: unknown[] },
    statements: readonly string[],
    patienceMs: number,
    strike: (node: ClusterNode) => Promise<boolean>,
  ): Promise<boolean> {
    return this.db.transaction(async (tx) => {
      const { rows } = await tx.query(lock.text, lock.values);
      if (rows.length === 0) return false;
      const until = performance.now() + patienceMs;
      while (performance.now() < until) {
        // Inside the transaction the server would show the activity of its first look again and again.
        for (const node of await this.#waiting(this.db, statements)) if (await strike(node)) return true;
        await tx.query("SELECT 1");
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      return false;
    });
  }

  /** Nodes whose connection waits for a lock inside one of these statements; connections name their node. */
  async #waiting(db: Queryable, statements: readonly string[]): Promise<ClusterNode[]> {
    const { rows } = await db.query<{ name: string }>(
      `SELECT DISTINCT application_name AS name FROM pg_stat_activity
       WHERE wait_event_type = 'Lock' AND datname = current_database()
         AND EXISTS (SELECT FROM unnest($1::text[]) s WHERE strpos(query, s) > 0)`,
      [statements],
    );
    return rows.flatMap(({ name }) => this.cluster.nodes.filter((node) => name.endsWith(` ${node.name}`)));
  }

  async end(): Promise<void> {
    await this.db.end();
  }
}
