/** Ending a run that nobody keeps any more. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { endAbandonedRun } from "../../../src/chaos/drill/abandoned-run.ts";
import { Database } from "../../../src/store/database.ts";
import { beginDrillRun, currentDrillRun } from "../../../src/store/drill/drill-run.ts";
import { freshDatabase } from "../../support/database.ts";
import { PretendDrillHost } from "./pretend-drill-host.ts";

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

it("a host that this inventory does not have was not looked at, and that is said", async () => {
  const target = (host: string) => ({ host, node: host, part: "executor" });
  await beginDrillRun(
    db,
    {
      ...{ runId: randomUUID(), drill: "kill-executor/restarted", class: "executor-killed" },
      ...{
        digest: "0".repeat(64),
        person: "p",
        trigger: "manual" as const,
        version: "0",
        controller: "dead",
      },
      targets: [target("exec-1"), target("exec-9")],
    },
    -1,
  );
  const ended = await endAbandonedRun({
    db,
    hosts: [{ name: "exec-1", addresses: [], parts: ["executor"], units: {} }],
    connectHost: async ({ name }) => new PretendDrillHost(name),
    ...{ controller: "next", person: "p", say: () => {} },
  });
  expect(ended).toMatchObject({
    verdict: "unknown",
    reason: expect.stringContaining("exec-9: everything (it is not in this inventory)"),
    audits: [
      { host: "exec-1", residue: [], unseen: [] },
      { host: "exec-9", unseen: [expect.any(String)] },
    ],
  });
  expect(await currentDrillRun(db)).toBeNull();
});
