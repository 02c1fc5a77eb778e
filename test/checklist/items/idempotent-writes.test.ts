/** Item 6: what the code shows, and what a repeat shows. */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CheckContext } from "../../../src/checklist/context.ts";
import { idempotentWrites, sourceDigests } from "../../../src/checklist/items/06-idempotent-writes.ts";
import { rehearseJob } from "../../../src/cli/checklist/job-rehearsal.ts";
import { readJobFiles } from "../../../src/cli/jobs/job-files.ts";
import type { JobDefinition } from "../../../src/spec/job-definition.ts";
import { type JobRehearsal, rehearsalAction } from "../../../src/store/checklist/job-rehearsals.ts";
import { Database } from "../../../src/store/database.ts";
import { recordOperation } from "../../../src/store/operation.ts";
import { type FreshDatabase, freshDatabase } from "../../support/database.ts";
import { contextOf, definitionsOf, fillStore, goodJobs, resolved } from "../good-cluster.ts";
import { type GoodFiles, goodFiles } from "../good-sources.ts";

let fresh: FreshDatabase;
let db: Database;
let files: GoodFiles;

beforeAll(async () => {
  files = goodFiles();
  fresh = await freshDatabase({ migrated: true });
  db = new Database(fresh.url, { maxConnections: 2 });
  await fillStore(db);
});

afterAll(async () => {
  files.remove();
  await db.end();
  await fresh.drop();
});

function context(change: (jobs: JobDefinition[]) => void = () => {}): CheckContext {
  const jobs = goodJobs();
  change(jobs);
  return contextOf(db, { definitions: definitionsOf(files.root, jobs) });
}

async function of(name: string, where = context()) {
  return (await idempotentWrites.check(where)).find(({ scope }) => scope.name === name)!;
}

async function note(job: JobDefinition, change: Partial<JobRehearsal> = {}) {
  const found = resolved(job);
  const { rows } = await db.query<{ id: number }>("SELECT job_id AS id FROM escapement.job WHERE name = $1", [
    job.name,
  ]);
  await recordOperation(db, {
    person: "tester",
    reason: "x",
    action: rehearsalAction,
    jobId: rows[0]!.id,
    after: {
      verdict: "pass",
      reason: "x",
      digest: found.digest,
      sources: await sourceDigests(files.root, found),
      changed: ["bonus"],
      repeated: [],
      ...change,
    },
  });
}

describe("item 6", () => {
  const [bonus] = goodJobs() as [JobDefinition, ...JobDefinition[]];

  it("is unknown before a rehearsal, passes after one, and not for another version", async () => {
    expect(await of("pay/bonus")).toMatchObject({
      verdict: "unknown",
      message: expect.stringMatching(/never run twice/),
      todo: "escapement checklist rehearse pay/bonus",
    });
    await note(bonus);
    expect(await of("pay/bonus")).toMatchObject({
      verdict: "pass",
      message: expect.stringMatching(/a repeat changed nothing/),
    });
    await note(bonus, { ignored: ["bonus.written_at"] });
    expect(await of("pay/bonus")).toMatchObject({
      verdict: "pass",
      message: expect.stringMatching(/not compared: bonus\.written_at/),
    });
    const edited = context((jobs) => Object.assign(jobs[0]!, { timeoutMs: 1 }));
    expect(await of("pay/bonus", edited)).toMatchObject({
      verdict: "unknown",
      message: expect.stringMatching(/another version/),
    });
    await note(bonus, { sources: { "jobs/bonus.sql": "0" } });
    expect(await of("pay/bonus")).toMatchObject({
      verdict: "unknown",
      message: expect.stringMatching(/another version/),
    });
    await note(bonus, { verdict: "fail", reason: "the repeat changed bonus again" });
    expect(await of("pay/bonus")).toMatchObject({
      verdict: "fail",
      message: expect.stringMatching(/changed bonus again/),
    });
    await note(bonus);
  });

  it.each([
    ["mail -s pay boss", "mail"],
    ["echo a; kubectl delete ns prod", "kubectl"],
    ["X=1 /usr/bin/ship out", "/usr/bin/ship"],
    ["echo $(wget http://pay.example/)", "wget"],
    ['echo "hello from $(hostname), $N"; sleep 1 && exit 0', null],
  ])("does not know what a job changes that declares no effect and runs: %s", async (line, program) => {
    const running = context((jobs) => Object.assign(jobs[0]!, { effects: [], command: ["sh", "-c", line] }));
    const message = `it declares no effect, and ${program ? `what ${program} does cannot be seen` : "its code shows none"}`;
    expect(await of("pay/bonus", running)).toMatchObject({ verdict: program ? "unknown" : "pass", message });
  });

  it("fails on what the source shows, at its line", async () => {
    files.write("jobs/add.sql", "-- x\nUPDATE balance SET pence = pence + 1 WHERE id = 1;\n");
    const adding = context((jobs) => Object.assign(jobs[0]!.effects[0]!, { sources: ["jobs/add.sql"] }));
    expect(await of("pay/bonus", adding)).toMatchObject({
      verdict: "fail",
      message: expect.stringMatching(/jobs\/add.sql:2: an UPDATE adds/),
      location: { file: "jobs/add.sql", line: 2 },
    });
  });

  it("is unknown when a source cannot be read, or lies outside", async () => {
    for (const path of ["jobs/none.sql", "../secret.sql", "/etc/passwd"]) {
      const lost = context((jobs) => Object.assign(jobs[0]!.effects[0]!, { sources: [path] }));
      expect(await of("pay/bonus", lost)).toMatchObject({
        verdict: "unknown",
        message: expect.stringMatching(/could not read/),
      });
    }
  });

  it.each([
    ["is empty", ""],
    ["is comments alone", "-- to be written\n/* UPDATE t */\n"],
    ["is compiled", "PK\u0003\u0004\u0000UPDATE"],
  ])("is unknown when a source %s", async (_, text) => {
    files.write("jobs/odd.sql", text);
    const odd = context((jobs) => Object.assign(jobs[0]!.effects[0]!, { sources: ["jobs/odd.sql"] }));
    expect(await of("pay/bonus", odd)).toMatchObject({
      verdict: "unknown",
      message: expect.stringMatching(/could not read jobs\/odd\.sql/),
    });
  });

  it.each([
    ["compiled code", ["jobs/look.sh"], "\u007fELF\u0000", "unknown"],
    ["code that shows no write", ["sh", "jobs/look.sh"], "psql -c 'SELECT 1'\n", "pass"],
    ["code that writes", ["sh", "jobs/look.sh"], "psql -c 'DELETE FROM bonus'\n", "fail"],
    ["code that is not here", ["/opt/pay/other.sh"], "", "unknown"],
    ["an inline command that writes", ["sh", "-c", "psql -c 'INSERT INTO x VALUES (1)'"], "", "fail"],
    ["nothing at all", ["true"], "", "pass"],
  ])("a job without effects and with %s", async (_, command, text, verdict) => {
    files.write("jobs/look.sh", text);
    const silent = context((jobs) => Object.assign(jobs[0]!, { command, effects: [] }));
    expect(await of("pay/bonus", silent)).toMatchObject({ verdict });
  });

  it("is unknown without a store, though it still says what the source shows", async () => {
    const blind = contextOf("gone", { definitions: definitionsOf(files.root) });
    const found = await idempotentWrites.check(blind);
    expect(Object.fromEntries(found.map(({ scope, verdict }) => [scope.name, verdict]))).toMatchObject({
      payments: "unknown",
      "pay/bonus": "pass",
    });
  });
});

describe("a rehearsal", () => {
  let scratch: FreshDatabase;
  let jobs: ReadonlyMap<string, JobDefinition>;

  beforeAll(async () => {
    scratch = await freshDatabase({ migrated: false });
    const there = new Database(scratch.url, { maxConnections: 1 });
    await there.query(readFileSync("examples/rehearse/tables.sql", "utf8"));
    await there.query(`CREATE SCHEMA ledger; SET search_path = ledger; ${readFileSync("examples/settlement/ledger.sql", "utf8")};
      INSERT INTO payment SELECT 'f', n, to_char(now() - interval '1 month', 'YYYY-MM'), '2026-10-01', 'u', 'S-000' || n % 7, n FROM generate_series(1, 70) n`);
    await there.end();
    const read = await readJobFiles(["examples/settlement/jobs", "examples/rehearse"]);
    jobs = new Map(read.jobs.map(({ definition }) => [definition.name, definition]));
  });
  afterAll(() => scratch.drop());

  const rehearse = (job: JobDefinition, replaced: Record<string, string>, ignored: string[] = []) =>
    rehearseJob({
      job,
      replaced,
      lookUrl: scratch.url,
      fireTime: new Date(Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth(), 1, 2)),
      ignored,
      signal: new AbortController().signal,
      say: () => {},
    });
  const ledger = () => `${scratch.url}?options=-csearch_path%3Dledger`;

  it("of totals that are computed anew changes nothing the second time; of added ones it does", async () => {
    expect(await rehearse(jobs.get("totals")!, { LEDGER_URL: scratch.url })).toMatchObject({
      verdict: "pass",
      changed: ["supplier_total"],
      repeated: [],
    });
    expect(await rehearse(jobs.get("added-totals")!, { LEDGER_URL: scratch.url })).toMatchObject({
      verdict: "fail",
      repeated: ["supplier_total"],
    });
    // Everything is there already: the first run changes nothing, and nothing is shown.
    expect(await rehearse(jobs.get("totals")!, { LEDGER_URL: scratch.url })).toMatchObject({
      verdict: "pass",
    });
    expect(await rehearse(jobs.get("totals")!, { LEDGER_URL: scratch.url })).toMatchObject({
      verdict: "unknown",
      reason: expect.stringMatching(/changed nothing/),
    });
  });

  it.each(["settlement", "intraday-report", "limit-check", "rates-refresh"])(
    "of %s changes nothing the second time",
    async (name) => {
      const job = jobs.get(name)!;
      const fewer = job.shards.by === "hash" ? { ...job, shards: { ...job.shards, count: 2 } } : job;
      expect(await rehearse(fewer, { LEDGER_URL: ledger(), PACE_MS: "0" })).toMatchObject({
        verdict: "pass",
        repeated: [],
      });
    },
  );

  it("counts a column that was left out only when it holds times", async () => {
    const there = new Database(scratch.url, { maxConnections: 1 });
    await there.query("CREATE TABLE paid (n integer PRIMARY KEY, pence bigint, at timestamptz)");
    await there.query("INSERT INTO paid VALUES (1, 0, now())");
    const write = (set: string): JobDefinition => ({
      ...jobs.get("totals")!,
      command: [
        "node",
        "--input-type=module",
        "-e",
        `import pg from "pg"; const c = new pg.Client(process.env.LEDGER_URL); await c.connect(); await c.query("${set}"); await c.end();`,
      ],
    });
    const to = { LEDGER_URL: scratch.url };
    const doubled = write(
      "UPDATE paid SET pence = pence + 1; INSERT INTO paid VALUES (2) ON CONFLICT DO NOTHING",
    );
    expect(await rehearse(doubled, to, ["paid.pence"])).toMatchObject({
      verdict: "unknown",
      reason: expect.stringMatching(/not compared: paid\.pence, which is no stamp; the repeat/),
      ignored: ["paid.pence"],
    });
    const stamped = write(
      "UPDATE paid SET at = clock_timestamp(); INSERT INTO paid VALUES (3) ON CONFLICT DO NOTHING",
    );
    expect(await rehearse(stamped, to, ["public.paid.at"])).toMatchObject({
      verdict: "pass",
      ignored: ["public.paid.at"],
    });
    await expect(rehearse(stamped, to, ["paid.att"])).rejects.toThrow(/--ignore: paid\.att is not a column/);
    await there.query("DROP TABLE paid");
    await there.end();
  });

  it("is refused while the job would reach the real thing; is unknown when the job fails", async () => {
    const totals = jobs.get("totals")!;
    await expect(rehearse(totals, {})).rejects.toThrow(/LEDGER_URL of the job would reach the real thing/);
    await expect(rehearse(totals, { LEDGER_URL: totals.environment.LEDGER_URL! })).rejects.toThrow(
      /real thing/,
    );
    expect(
      await rehearse(
        { ...totals, command: ["sh", "-c", "echo broken >&2; exit 3"] },
        { LEDGER_URL: scratch.url },
      ),
    ).toMatchObject({
      verdict: "unknown",
      reason: expect.stringMatching(/shard 0: exit 3: broken/),
    });
  });
});
