/** Rehearsals that show nothing: one of two databases was not compared, or somebody stopped it. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { rehearsalAction } from "../../../src/store/checklist/job-rehearsals.ts";
import { Database } from "../../../src/store/database.ts";
import { fullJob } from "../../spec/full-job.ts";
import { type FreshDatabase, freshDatabase } from "../../support/database.ts";

let store: FreshDatabase;
let scratch: FreshDatabase;
let records: Database;
let there: Database;
let folder: string;

// Every step starts the program; the limit only stops a hang.
const patient = 120_000;

beforeAll(async () => {
  store = await freshDatabase({ migrated: true });
  scratch = await freshDatabase({ migrated: false });
  records = new Database(store.url, { maxConnections: 1 });
  there = new Database(scratch.url, { maxConnections: 1 });
  await there.query("CREATE TABLE once (job text PRIMARY KEY)");
  folder = mkdtempSync(join(tmpdir(), "rehearse-doubts-"));
  writeJob("quick", "");
  // Does its work, and when it finds that done waits to be stopped.
  writeJob("slow", "if (rowCount === 0) await new Promise((done) => setTimeout(done, 600_000));");
  const applied = await escapement(["jobs", "apply", folder, "--reason", "first"]);
  expect(applied.code, applied.stderr).toBe(0);
}, patient);
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await records.end();
  await there.end();
  await scratch.drop();
  await store.drop();
});

function writeJob(name: string, then: string): void {
  const program = `import pg from "pg";
const c = new pg.Client(process.env.LEDGER_URL);
await c.connect();
const { rowCount } = await c.query("INSERT INTO once VALUES ('${name}') ON CONFLICT DO NOTHING");
await c.end();
${then}`;
  const { spec, ...job } = fullJob() as { spec: Record<string, unknown> };
  const command = ["node", "--input-type=module", "-e", program];
  const more = { command, workingDirectory: process.cwd(), environment: {}, shards: { by: "none" } };
  const document = { ...job, metadata: { name, namespace: "doubts" }, spec: { ...spec, ...more } };
  writeFileSync(join(folder, `${name}.yaml`), JSON.stringify(document));
}

interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** @param stopWhen how much it has said when somebody presses Ctrl-C */
function escapement(args: readonly string[], stopWhen?: (stderr: string) => boolean): Promise<Ran> {
  return new Promise((resolve) => {
    const env = { ...process.env, ESCAPEMENT_STORE_URL: store.url, ESCAPEMENT_INVENTORY: "" };
    const child = spawn(process.execPath, ["bin/escapement.mjs", ...args], { env });
    let [stdout, stderr, stopped] = ["", "", false];
    child.stdout.setEncoding("utf8").on("data", (part: string) => {
      stdout += part;
    });
    child.stderr.setEncoding("utf8").on("data", (part: string) => {
      stderr += part;
      if (stopped || !stopWhen?.(stderr)) return;
      stopped = true;
      child.kill("SIGINT");
    });
    child.on("close", (code) => resolve({ code, stdout, stderr }));
  });
}

const rehearse = (job: string, ...more: string[]) => [
  ...["checklist", "rehearse", job, folder, "--json"],
  ...["--set", `LEDGER_URL=${scratch.url}`, "--look", scratch.url, ...more],
];

async function written(job: string): Promise<readonly Record<string, unknown>[]> {
  const { rows } = await records.query<{ after: Record<string, unknown> }>(
    `SELECT o.after FROM escapement.operation o JOIN escapement.job j USING (job_id)
     WHERE o.action = $1 AND j.name = $2 ORDER BY o.at`,
    [rehearsalAction, job],
  );
  return rows.map(({ after }) => after);
}

test("of two databases one was looked at: unknown, in the answer and in the record", {
  timeout: patient,
}, async () => {
  const other = new URL(scratch.url);
  other.pathname = "/bonus_scratch";
  const ran = await escapement(rehearse("doubts/quick", "--set", `BONUS_URL=${other.href}`));
  const said = {
    verdict: "unknown",
    reason: "not compared: what BONUS_URL names; the repeat changed nothing else",
    unseen: ["BONUS_URL"],
    changed: ["once"],
  };
  expect(ran.code, ran.stderr).toBe(5);
  expect(JSON.parse(ran.stdout)).toMatchObject(said);
  expect(await written("quick")).toEqual([expect.objectContaining(said)]);
});

test.each([
  ["first", 1],
  ["second", 2],
])("Ctrl-C in the %s run: 130, and nothing is written down", { timeout: patient }, async (_, runs) => {
  if (runs === 1) await there.query("INSERT INTO once VALUES ('slow') ON CONFLICT DO NOTHING");
  else await there.query("DELETE FROM once WHERE job = 'slow'");
  const begun = (stderr: string) => (stderr.match(/shard 1 of 1/g)?.length ?? 0) >= runs;
  const ran = await escapement(rehearse("doubts/slow"), begun);
  expect(ran, ran.stderr).toMatchObject({ code: 130, stdout: "" });
  expect(ran.stderr).toMatch(/stopped: nothing is written down/);
  expect(await written("slow")).toEqual([]);
});

test("its help names the exit code of a run that was stopped", { timeout: patient }, async () => {
  expect((await escapement(["checklist", "rehearse", "--help"])).stdout).toMatch(/^ *130 +interrupted$/m);
});
