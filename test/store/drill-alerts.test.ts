/** Which alerts keep a drill from beginning. */
import { expect, it, onTestFinished } from "vitest";
import { raiseAlert } from "../../src/store/alert.ts";
import { Database } from "../../src/store/database.ts";
import { beginDrillRun, endDrillRun } from "../../src/store/drill/drill-run.ts";
import { openCriticalAlerts } from "../../src/store/drill/drill-sample.ts";
import { freshDatabase } from "../support/database.ts";

it("open critical ones do, but not those that a drill itself has raised", async () => {
  const { url, drop } = await freshDatabase({ migrated: true });
  const db = new Database(url, { maxConnections: 2 });
  onTestFinished(async () => {
    await db.end();
    await drop();
  });
  const raise = (dedupKey: string, severity: "warning" | "critical") =>
    raiseAlert(db, { dedupKey, kind: "test", severity, message: dedupKey });
  await raise("a warning", "warning");
  expect(await openCriticalAlerts(db, 15)).toEqual([]);
  const runId = "00000000-0000-4000-8000-000000000001";
  const who = { person: "test", version: "0", controller: "test", digest: "d", targets: [] };
  await beginDrillRun(db, { runId, drill: "d", class: "c", trigger: "manual", ...who }, 60_000);
  await raise("raised by the drill", "critical");
  expect(await openCriticalAlerts(db, 15)).toEqual([]);
  await endDrillRun(db, runId, "test", { verdict: "pass", reason: "", summary: {} });
  await raise("raised afterwards", "critical");
  expect(await openCriticalAlerts(db, 15)).toEqual(["raised afterwards"]);
  await db.query("UPDATE escapement.alert_outbox SET resolved_at = clock_timestamp()");
  expect(await openCriticalAlerts(db, 15)).toEqual([]);
});
