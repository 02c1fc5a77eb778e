/** One migrated, filled record store for a file of items' tests, and ways to ask an item about it. */
import { afterAll, beforeAll } from "vitest";
import type { CheckContext, CheckedDefinitions, HostProbe } from "../../src/checklist/context.ts";
import type { ChecklistItem, Result } from "../../src/checklist/item.ts";
import { Database, type Queryable } from "../../src/store/database.ts";
import { type FreshDatabase, freshDatabase } from "../support/database.ts";
import { goodHosts } from "./fake-host.ts";
import { contextOf, definitionsOf, fillStore } from "./good-cluster.ts";

export let fresh: FreshDatabase;
export let db: Database;

beforeAll(async () => {
  fresh = await freshDatabase({ migrated: true });
  db = new Database(fresh.url, { maxConnections: 3 });
  await db.query(
    `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET TimeZone = %L', current_database(), 'UTC'); END $$`,
  );
  await db.end();
  db = new Database(fresh.url, { maxConnections: 3 });
  await fillStore(db);
});

afterAll(async () => {
  await db.end();
  await fresh.drop();
});

export interface Change {
  readonly store?: Queryable | string;
  readonly definitions?: Partial<CheckedDefinitions>;
  readonly hosts?: readonly HostProbe[];
}

/** The good cluster with something changed. */
export function context({ store = db, definitions = {}, hosts = goodHosts() }: Change = {}): CheckContext {
  return contextOf(store, { definitions: { ...definitionsOf("/nowhere"), ...definitions }, hosts });
}

/** Verdicts by scope. */
export async function verdicts(
  item: ChecklistItem<CheckContext>,
  of = context(),
): Promise<Record<string, string>> {
  return Object.fromEntries((await item.check(of)).map(({ scope, verdict }) => [scope.name, verdict]));
}

/** What an item says of one scope. */
export async function resultOf(
  item: ChecklistItem<CheckContext>,
  scope: string,
  of = context(),
): Promise<Result> {
  return (await item.check(of)).find((one) => one.scope.name === scope)!;
}

/** With something changed in a transaction that is rolled back. */
export async function changed(
  item: ChecklistItem<CheckContext>,
  sql: string,
  scope = "payments",
  change: Omit<Change, "store"> = {},
): Promise<Result> {
  const undo = new Error("undo");
  let found: Result | undefined;
  await db
    .transaction(async (tx) => {
      await tx.query(sql);
      found = await resultOf(item, scope, context({ ...change, store: tx }));
      throw undo;
    })
    .catch((error: unknown) => {
      if (error !== undo) throw error;
    });
  return found!;
}
