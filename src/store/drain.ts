/**
 * Nodes that are to get no new work, for maintenance. Kept by the node's name,
 * not by its process: it holds across restarts until the node is let in again.
 */
import type { Database, Queryable } from "./database.ts";
import { type Deed, recordOperation } from "./operation.ts";

export interface DrainedNode extends Deed {
  readonly node: string;
  readonly since: Date;
}

/**
 * Stops new claims of a node. Once this has returned, no claim of it is on its way.
 * @returns false: it was drained already
 */
export async function drainNode(db: Database, node: string, deed: Deed): Promise<boolean> {
  return db.transaction(async (tx) => {
    const { rows } = await tx.query<{ fresh: boolean }>("SELECT escapement.drain($1, $2, $3) AS fresh", [
      node,
      deed.person,
      deed.reason,
    ]);
    const fresh = rows[0]?.fresh ?? false;
    if (fresh) await recordOperation(tx, { ...deed, action: "drain", after: { node } });
    return fresh;
  });
}

/** Lets a node claim again. @returns false: it was not drained */
export async function undrainNode(db: Database, node: string, deed: Deed): Promise<boolean> {
  return db.transaction(async (tx) => {
    const { rowCount } = await tx.query("DELETE FROM escapement.executor_drain WHERE node = $1", [node]);
    if (rowCount) await recordOperation(tx, { ...deed, action: "undrain", before: { node } });
    return Boolean(rowCount);
  });
}

export async function drainedNodes(db: Queryable): Promise<DrainedNode[]> {
  const { rows } = await db.query<DrainedNode>(
    "SELECT node, since, person, reason FROM escapement.executor_drain ORDER BY node",
  );
  return rows;
}

/** What a node is at: shards it holds by the records, and its processes whose lease has not ended. */
export interface NodeLoad {
  readonly node: string;
  readonly running: number;
  /** Of `running`, those whose executor's lease has ended; they go back to the queue by themselves. */
  readonly leaseEnded: number;
  readonly processes: number;
}

/** The running records of every node, whichever of its process lives holds them. */
export async function nodeLoads(db: Queryable): Promise<NodeLoad[]> {
  const { rows } = await db.query<NodeLoad>(
    `SELECT x.node, count(l.owner)::integer AS running,
       (count(l.owner) FILTER (WHERE x.lease_until < clock_timestamp()))::integer AS "leaseEnded",
       (count(DISTINCT x.incarnation) FILTER (WHERE x.state IN ('active', 'draining') AND x.lease_until > clock_timestamp()))::integer AS processes
     FROM escapement.executor x LEFT JOIN escapement.shard_live l ON l.owner = x.incarnation
     WHERE x.state IN ('active', 'draining') OR l.owner IS NOT NULL
     GROUP BY x.node ORDER BY x.node`,
  );
  return rows;
}
