/** What screens are shown of drills. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { Database } from "../../../src/store/database.ts";
import { beginDrillRun, endDrillRun } from "../../../src/store/drill/drill-run.ts";
import { lookAtDrills } from "../../../src/store/ui/records-look.ts";
import { freshDatabase } from "../../support/database.ts";

let server: Awaited<ReturnType<typeof freshDatabase>>;
let db: Database;
beforeAll(async () => {
  server = await freshDatabase({ migrated: true });
  db = new Database(server.url, { maxConnections: 2, applicationName: "test" });
});
afterAll(async () => {
  await db.end();
  await server.drop();
});

it("a run that was not begun is called so, and is not one that nobody knows what became of", async () => {
  const summaries = [{}, { refused: true }, { leftOut: true }, { refused: false }];
  for (const [nth, summary] of summaries.entries()) {
    const runId = `00000000-0000-4000-8000-00000000000${nth}`;
    await beginDrillRun(
      db,
      {
        ...{ runId, drill: "kill-executor/restarted", class: "executor-killed", digest: "0".repeat(64) },
        ...{ person: "p", trigger: "manual" as const, version: "0", controller: "c", targets: [] },
      },
      30_000,
    );
    await endDrillRun(db, runId, "c", { verdict: "unknown", reason: "seen", summary });
  }
  const { runs } = await lookAtDrills(db);
  expect([...runs].reverse().map(({ verdict }) => verdict)).toEqual([
    "unknown",
    "refused",
    "left-out",
    "unknown",
  ]);
});
