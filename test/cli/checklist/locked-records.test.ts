/** Who stops a run does not wait for a table that somebody has locked. */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { Database } from "../../../src/store/database.ts";
import { fullJob } from "../../spec/full-job.ts";
import { freshDatabase } from "../../support/database.ts";

test("Ctrl-C while the last run is looked for: it ends, and the lock is still held", async () => {
  const fresh = await freshDatabase({ migrated: true });
  const db = new Database(fresh.url, { maxConnections: 2 });
  const folder = mkdtempSync(join(tmpdir(), "checklist-locked-"));
  mkdirSync(join(folder, "jobs"));
  writeFileSync(join(folder, "jobs/a.yaml"), JSON.stringify(fullJob()));
  const bin = join(process.cwd(), "bin/escapement.mjs");
  try {
    await db.transaction(async (tx) => {
      await tx.query("SET LOCAL idle_in_transaction_session_timeout = 0");
      await tx.query("LOCK TABLE escapement.checklist_run IN ACCESS EXCLUSIVE MODE");
      const args = ["checklist", "jobs", "--url", fresh.url, "--item", "1", "--json"];
      const child = spawn(process.execPath, [bin, ...args], { cwd: folder });
      let stderr = "";
      child.stdout.resume();
      child.stderr.setEncoding("utf8").on("data", (part: string) => (stderr += part));
      const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
      const waits = `SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'escapement.checklist_run'::regclass`;
      await expect.poll(async () => (await db.query(waits)).rows.length, { timeout: 50_000 }).toBe(1);
      child.kill("SIGINT");
      // The statement may take 30 s: who waits for it comes after this one.
      const waited = sleep(25_000, "waited for the statement", { ref: false });
      expect(await Promise.race([ended, waited])).toBe(130);
      expect(stderr).not.toMatch(/no trend/);
    });
  } finally {
    await db.end();
    await fresh.drop();
    rmSync(folder, { recursive: true });
  }
}, 120_000);
