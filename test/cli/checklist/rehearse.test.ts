/** The same fire twice in a scratch database, as a person types it: the example jobs, and the one that adds up. */
import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ChecklistReport } from "../../../src/checklist/report-schema.ts";
import { Database } from "../../../src/store/database.ts";
import { type FreshDatabase, freshDatabase } from "../../support/database.ts";

let store: FreshDatabase;
let scratch: FreshDatabase;
let there: Database;
let folder: string;

beforeAll(async () => {
  store = await freshDatabase({ migrated: true });
  scratch = await freshDatabase({ migrated: false });
  there = new Database(scratch.url, { maxConnections: 1 });
  await there.query(readFileSync("examples/rehearse/tables.sql", "utf8"));
  await there.query(`CREATE SCHEMA ledger; SET search_path = ledger; ${readFileSync("examples/settlement/ledger.sql", "utf8")};
    INSERT INTO payment SELECT 'f', n, to_char(now() - interval '1 month', 'YYYY-MM'), '2026-10-01', 'u', 'S-000' || n % 7, n FROM generate_series(1, 70) n;
    SET search_path = public`);
  folder = mkdtempSync(join(tmpdir(), "rehearse-"));
  cpSync("examples/settlement/jobs", folder, { recursive: true });
  // Two shards in place of 32: each is two processes, and shows the same.
  for (const file of readdirSync(folder).map((name) => join(folder, name)))
    writeFileSync(
      file,
      readFileSync(file, "utf8")
        .replace("count: 32", "count: 2")
        .replace(
          "workingDirectory: examples/settlement",
          `workingDirectory: ${join(process.cwd(), "examples/settlement")}`,
        ),
    );
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await there.end();
  await scratch.drop();
  await store.drop();
});

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function escapement(...args: readonly string[]): Promise<Ran> {
  return new Promise((resolve) => {
    const env = { ...process.env, ESCAPEMENT_STORE_URL: store.url, ESCAPEMENT_INVENTORY: "" };
    execFile(process.execPath, ["bin/escapement.mjs", ...args], { env }, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr });
    });
  });
}

const rehearse = (job: string, path: string, ledger: string, ...more: string[]) =>
  escapement(
    "checklist",
    "rehearse",
    job,
    path,
    "--set",
    `LEDGER_URL=${ledger}`,
    "--look",
    scratch.url,
    ...more,
  );

async function item6(job: string) {
  const { stdout } = await escapement(
    "checklist",
    "examples/rehearse",
    "--item",
    "6",
    "--job",
    job,
    "--json",
    "--quiet",
  );
  const [item] = (JSON.parse(stdout) as ChecklistReport).items;
  return item!.results.find(({ scope }) => scope.name === job)!;
}

// Every step starts the program; the limit only stops a hang.
describe("checklist rehearse", { timeout: 240_000 }, () => {
  it("of the example that computes anew: 0, recorded, and item 6 passes; of the one that adds up: 1, and it fails", async () => {
    const applied = await escapement(
      "jobs",
      "apply",
      "examples/rehearse",
      "--reason",
      "first",
      "--by",
      "ada",
    );
    expect(applied.code, applied.stderr).toBe(0);
    expect(await item6("rehearse/totals")).toMatchObject({ verdict: "unknown" });

    const right = await rehearse("rehearse/totals", "examples/rehearse", scratch.url, "--by", "ada");
    expect(right, right.stderr).toMatchObject({
      code: 0,
      stdout: "rehearse/totals: the repeat changed nothing\nthe first run changed supplier_total\n",
    });
    const passes = await item6("rehearse/totals");
    expect(passes, passes.message).toMatchObject({
      verdict: "pass",
      message: expect.stringMatching(/a repeat changed nothing .*the first run changed supplier_total/),
    });

    const paid = async () =>
      (await there.query<{ pence: number }>("SELECT sum(pence)::bigint AS pence FROM supplier_total"))
        .rows[0]!.pence;
    const once = await paid();
    const wrong = await rehearse("rehearse/added-totals", "examples/rehearse", scratch.url);
    expect(wrong, wrong.stderr).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^rehearse\/added-totals: the repeat changed supplier_total again\n/),
    });
    // It was no trick of the comparison: everybody has been paid three times.
    expect(await paid()).toBe(3 * once);
    expect(await item6("rehearse/added-totals")).toMatchObject({
      verdict: "fail",
      message: expect.stringMatching(
        /an UPDATE adds to its own column.*the repeat changed supplier_total again/,
      ),
    });
  });

  it.each(["settlement", "intraday-report", "limit-check", "rates-refresh"])(
    "of the example finance/%s: 0",
    async (name) => {
      const now = new Date();
      const fire = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1, 2)).toISOString();
      const ledger = `${scratch.url}?options=-csearch_path%3Dledger`;
      const ran = await rehearse(
        `finance/${name}`,
        folder,
        ledger,
        ...["--set", "PACE_MS=0", "--fire-time", fire, "--no-record", "--json"],
      );
      expect(ran.code, ran.stderr).toBe(0);
      const said = JSON.parse(ran.stdout) as { changed: string[] };
      expect(said).toMatchObject({ job: `finance/${name}`, verdict: "pass", repeated: [] });
      expect(said.changed.length).toBeGreaterThan(0);
    },
  );

  it("is refused while it would reach the real thing, and unknown when the first run changes nothing", async () => {
    const real = await escapement(
      ...[
        "checklist",
        "rehearse",
        "rehearse/totals",
        "examples/rehearse",
        "--look",
        scratch.url,
        "--no-record",
      ],
    );
    expect(real).toMatchObject({
      code: 4,
      stderr: expect.stringMatching(/LEDGER_URL of the job would reach/),
    });
    const done = async () => rehearse("rehearse/totals", "examples/rehearse", scratch.url, "--no-record");
    await done();
    expect(await done()).toMatchObject({
      code: 5,
      stdout: expect.stringMatching(/changed nothing, so a repeat/),
    });
  });

  it("finds out before anything runs that nothing can be written down", async () => {
    const words = [
      ...["checklist", "rehearse", "finance/limit-check", folder],
      ...["--set", `LEDGER_URL=${scratch.url}`, "--set", "PACE_MS=0", "--look", scratch.url],
    ];
    const unknown = await escapement(...words);
    expect(unknown).toMatchObject({
      code: 64,
      stderr: expect.stringMatching(/there is no job finance\/limit-check/),
    });
    expect(unknown.stderr).not.toMatch(/shard 1 of/);
    const url = new URL(store.url);
    url.port = "1";
    const gone = await escapement(...words, "--url", url.href);
    expect(gone).toMatchObject({
      code: 69,
      stderr: expect.stringMatching(/the record store does not answer/),
    });
    expect(gone.stderr).not.toMatch(/shard 1 of/);
  });

  it("says which database is not there: the scratch, not the store", async () => {
    const look = (url: string) =>
      escapement(
        ...["checklist", "rehearse", "rehearse/totals", "examples/rehearse", "--no-record"],
        ...["--set", `LEDGER_URL=${url.startsWith("postgres") ? url : scratch.url}`, "--look", url],
      );
    expect(await look("nonsense")).toMatchObject({
      code: 64,
      stderr: expect.stringMatching(/--look: .*PostgreSQL URL/),
    });
    const missing = new URL(scratch.url);
    missing.pathname = "/no_such_scratch";
    expect(await look(missing.href)).toMatchObject({
      code: 64,
      stderr: expect.stringMatching(/--look: .*"no_such_scratch" does not exist/),
    });
    const closed = new URL(scratch.url);
    closed.port = "1";
    const silent = await look(closed.href);
    expect(silent).toMatchObject({
      code: 69,
      stderr: expect.stringMatching(/the scratch database does not answer/),
    });
  });
});
