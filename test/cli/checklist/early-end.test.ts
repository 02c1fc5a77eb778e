/** A checklist that cannot begin closes what it had opened: an idle connection keeps a program alive for half a minute. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { runChecklist } from "../../../src/cli/checklist/run.ts";
import { Database } from "../../../src/store/database.ts";
import { type FreshDatabase, freshDatabase } from "../../support/database.ts";
import { until } from "../../support/until.ts";

let fresh: FreshDatabase;
let db: Database;
beforeAll(async () => {
  fresh = await freshDatabase({ migrated: true });
  db = new Database(fresh.url, { maxConnections: 1, applicationName: "test" });
});
afterAll(async () => {
  await db.end();
  await fresh.drop();
});

test("a standby that is no URL is told, and no connection to the store stays", async () => {
  const options = { url: fresh.url, window: 86_400_000, itemTimeout: 40_000, standby: "db-2" };
  await expect(runChecklist(["examples/rehearse"], options)).rejects.toMatchObject({ code: "E_BAD_VALUE" });
  const sessions = () =>
    db.query(
      "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'escapement-checklist'",
    );
  await until(async () => (await sessions()).rows.length === 0, {
    what: "the checklist's connections to be closed",
    deadlineMs: 15_000,
  });
});
