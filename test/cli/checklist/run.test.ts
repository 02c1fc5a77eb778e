/** `checklist` against a real store, as a person and a pipeline run it: selection, files, trend, every exit code. */
import { execFile, execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { checklistItems } from "../../../src/checklist/items/all.ts";
import type { ChecklistReport } from "../../../src/checklist/report-schema.ts";
import { Database } from "../../../src/store/database.ts";
import { fullJob } from "../../spec/full-job.ts";
import { type FreshDatabase, freshDatabase } from "../../support/database.ts";

let folder: string;
let fresh: FreshDatabase;

const cluster = `apiVersion: escapement/v1
kind: Cluster
metadata: { name: small }
spec:
  store: { urlEnv: CHECKLIST_TEST_STORE }
  scheduler: { nodes: [{ name: s, http: { address: 127.0.0.1, port: 7101 } }] }
  executor: { nodes: [{ name: e, slots: { cpu: 1, memory: 0, io: 0 }, workDirectory: w }] }
  logs: { directory: logs }
`;

beforeAll(async () => {
  fresh = await freshDatabase({ migrated: true });
  folder = mkdtempSync(join(tmpdir(), "checklist-run-"));
  write("cluster.yaml", cluster);
  write("jobs/a.yaml", JSON.stringify(fullJob(), null, 1));
  write("alone/cluster.yaml", cluster);
  write("wrong/a.yaml", "kind: Job\nspec: {}\n");
  write(
    "inventory-wrong.yaml",
    "apiVersion: escapement/v1\nkind: Inventory\nmetadata: { name: x }\nspec: {}\n",
  );
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.test", ...args], { cwd: folder });
  git("init", "-q");
  git("add", "cluster.yaml", "jobs");
  git("commit", "-qm", "definitions");
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await fresh.drop();
});

function write(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function run(args: readonly string[], store = fresh.url): Promise<Ran> {
  return new Promise((resolve) => {
    const bin = join(process.cwd(), "bin/escapement.mjs");
    const env = {
      ...process.env,
      CHECKLIST_TEST_STORE: store,
      ESCAPEMENT_STORE_URL: "",
      ESCAPEMENT_INVENTORY: "",
    };
    execFile(process.execPath, [bin, "checklist", ...args], { cwd: folder, env }, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr });
    });
  });
}

const here = ["--cluster", "cluster.yaml"];
const away = "postgres://nobody@127.0.0.1:1/x";
const read = (text: string) => JSON.parse(text) as ChecklistReport;

describe("a run", () => {
  test("asks every item, tells each on standard error, and is bound to cluster, commit and files", async () => {
    const { code, stdout, stderr } = await run([...here, "--json"]);
    expect(code).toBe(0);
    const report = read(stdout);
    expect(report.items.map(({ number }) => number)).toEqual(
      checklistItems.map(({ number }) => number).sort((a, b) => a - b),
    );
    for (const { number, id } of checklistItems)
      expect(stderr).toMatch(new RegExp(`^item +${number} ${id}: \\w`, "m"));
    const commit = execFileSync("git", ["rev-parse", "HEAD"], { cwd: folder, encoding: "utf8" }).trim();
    const db = new Database(fresh.url, { maxConnections: 1 });
    const { rows } = await db.query<{ id: string }>("SELECT cluster_id AS id FROM escapement.cluster");
    await db.end();
    expect(report).toMatchObject({
      schemaVersion: 1,
      clock: "database",
      cluster: { id: rows[0]!.id, name: "small" },
      commit: { id: commit, clean: true },
      definitions: { jobs: 1, digest: expect.stringMatching(/^[0-9a-f]{64}$/) },
      asked: { items: null, job: null },
    });
    const places = report.items.flatMap(({ results }) => results.map(({ location }) => location.file));
    expect(new Set(places)).toEqual(new Set(["cluster.yaml", "jobs/a.yaml"]));
  });

  test("is recorded, and the next one is held against it", async () => {
    await run([...here, "--quiet"]);
    const { trend } = read((await run([...here, "--json", "--quiet"])).stdout);
    expect(trend).toMatchObject({ against: { from: "the last recorded run" }, worse: 0, new: 0 });
  });

  test("--quiet says nothing; text has a line for every item and what it comes to", async () => {
    const { stdout, stderr } = await run([...here, "--quiet"]);
    expect(stderr).toBe("");
    for (const { id } of checklistItems) expect(stdout).toContain(id);
    expect(stdout.trimEnd().split("\n").at(-1)).toMatch(/^(pass|fail|unknown): .*1 job\(s\), 0 host\(s\)/);
    expect(stdout).not.toContain("\u001b[");
  });

  test("-v shows the evidence", async () => {
    const { stdout } = await run([...here, "--quiet", "--item", "1", "-v"]);
    expect(stdout).toMatch(/^ +query at \d{4}-/m);
  });

  test("changes on top of the commit are told, wherever they are", async () => {
    write("jobs/b.yaml", JSON.stringify({ ...fullJob(), metadata: { name: "other" } }));
    const { commit, definitions } = read((await run([...here, "--json", "--item", "1"])).stdout);
    rmSync(join(folder, "jobs/b.yaml"));
    expect(commit.clean).toBe(false);
    expect(definitions.jobs).toBe(2);
  });
});

describe("what is narrowed is never green", () => {
  test("--item asks only these, and the gate says unknown at best", async () => {
    const { code, stdout } = await run([...here, "--item", "1", "--gate", "--json"]);
    const report = read(stdout);
    expect(report.items.map(({ number, verdict }) => [number, verdict])).toEqual([[1, "pass"]]);
    expect(report).toMatchObject({ outcome: "unknown", asked: { items: [1] } });
    expect(code).toBe(5);
  });

  test("--job is about this job, and no run of this kind is recorded", async () => {
    const before = await recorded();
    const { stdout } = await run([...here, "--job", "finance/settlement", "--json"]);
    expect(read(stdout)).toMatchObject({ asked: { job: "finance/settlement" } });
    expect(read(stdout).reasons).toContain("only job finance/settlement was asked about");
    expect(await recorded()).toBe(before);
  });
});

async function recorded(): Promise<number> {
  const db = new Database(fresh.url, { maxConnections: 1 });
  const { rows } = await db.query<{ n: number }>("SELECT count(*)::int AS n FROM escapement.checklist_run");
  await db.end();
  return rows[0]!.n;
}

describe("the store cannot be asked", () => {
  test.each([
    ["it is away", () => away],
    ["it has no schema of ours", () => fresh.url.replace(/\/[^/]*$/, "/postgres")],
    ["its URL is not set", () => ""],
  ])("%s: unknown, exit code 5, and never a pass of what only the store knows", async (_, store) => {
    const { code, stdout, stderr } = await run([...here, "--item", "1", "--gate", "--json"], store());
    expect(stderr).toMatch(/^the record store cannot be asked: /m);
    expect(read(stdout)).toMatchObject({ cluster: { id: null }, clock: "local", outcome: "unknown" });
    expect(read(stdout).items[0]!.verdict).toBe("unknown");
    expect(code).toBe(5);
  });

  test("without --gate it ends with 0: it could say so", async () => {
    expect((await run([...here, "--item", "1"], away)).code).toBe(0);
  });
});

describe("files", () => {
  test("-o writes every format, signed JSON included, and prints the table", async () => {
    await run(["keygen", "-o", "key"]);
    const { code, stdout } = await run([
      ...here,
      "--format",
      "text,json,junit,sarif,md,html",
      "-o",
      "out",
      "--sign",
      "key",
    ]);
    expect(code).toBe(0);
    expect(readdirSync(join(folder, "out")).sort()).toEqual([
      "junit.xml",
      "report.html",
      "report.json",
      "report.sarif",
      "report.txt",
      "summary.md",
    ]);
    expect(stdout).toMatch(/^verdict +item/);
    const {
      cluster: { id },
      commit,
      signature,
    } = read(readFileSync(join(folder, "out/report.json"), "utf8"));
    expect(signature?.algorithm).toBe("ed25519");
    const verified = await run([
      "verify",
      "out/report.json",
      "--key",
      "key.pub",
      "--cluster",
      id!,
      "--commit",
      commit.id!,
      "--max-age",
      "1h",
    ]);
    expect(verified).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^ok: made at .* of cluster small/),
    });
  });

  test("--baseline holds the run against a report", async () => {
    await run([...here, "--format", "json", "-o", "old", "--item", "1"]);
    const { stdout } = await run([...here, "--json", "--item", "1,3", "--baseline", "old/report.json"]);
    expect(read(stdout).trend).toMatchObject({ against: { from: "old/report.json" }, new: 1 });
  });

  test("waivers lie beside the verdict, and one that fits nothing fails the gate", async () => {
    const now = Date.now();
    const stamp = (days: number) => new Date(now + days * 86_400_000).toISOString();
    const text = (scope: string) => `apiVersion: escapement/v1
kind: Waivers
metadata: { name: w }
spec:
  waivers:
    - { item: 1, scope: ${scope}, reason: r, owner: a, approver: b, created: "${stamp(-1)}", expires: "${stamp(1)}" }
`;
    write("w.yaml", text("{ kind: cluster }"));
    const waived = await run([...here, "--item", "1", "--waivers", "w.yaml", "--json"], away);
    expect(read(waived.stdout).items[0]).toMatchObject({
      verdict: "waived",
      results: [{ verdict: "unknown", waiver: { file: "w.yaml", line: 6 } }],
    });
    write("w.yaml", text("{ kind: host, name: gone }"));
    const { code, stdout } = await run([...here, "--item", "1", "--waivers", "w.yaml", "--gate"]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^waiver {3}w\.yaml:6:7 .*fits no answer/m);
    write("w.yaml", text("{ kind: cluster }").replace("approver: b", "approver: a"));
    const wrong = await run([...here, "--waivers", "w.yaml", "--gate"]);
    expect(wrong).toMatchObject({
      code: 65,
      stderr: expect.stringMatching(/^w\.yaml:6:\d+ {2}.*another person/m),
    });
  });

  test("a job file that is wrong fails the gate, and the others are still asked about", async () => {
    const { code, stdout } = await run(["jobs", "wrong", ...here, "--gate", "--json"]);
    expect(code).toBe(1);
    expect(read(stdout)).toMatchObject({ outcome: "fail", definitions: { jobs: 1 } });
    expect(read(stdout).definitionProblems[0]).toMatchObject({ file: "wrong/a.yaml" });
  });
});

test.concurrent.each<[string[], number, RegExp]>([
  [["jobs"], 64, /no record store is named/],
  [[...here, "--item", "99"], 64, /--item: 99 is not the number of an item/],
  [[...here, "--item", "three"], 64, /write numbers/],
  [[...here, "--format", "pdf"], 64, /pdf is not one of text, json/],
  [[...here, "--format", "json,md"], 64, /more than one format needs a folder/],
  [[...here, "--sign", "key"], 64, /--sign signs the JSON report/],
  [[...here, "--sign", "nowhere", "--json"], 65, /cannot read nowhere/],
  [[...here, "--job", "nobody"], 64, /there is no job nobody/],
  [[...here, "--commit", "b".repeat(40)], 64, /--commit: b{40} is not the commit that is checked out/],
  [[...here, "--baseline", "cluster.yaml", "--item", "1"], 65, /is not a report of the checklist/],
  [[...here, "-i", "inventory-wrong.yaml"], 65, /inventory-wrong\.yaml/],
  [["--cluster", "alone/cluster.yaml"], 64, /no job files are named/],
  [["jobs", "--cluster", "nowhere.yaml"], 65, /nowhere\.yaml/],
  [["--cluster", "nowhere.yaml"], 65, /nowhere\.yaml/],
  [[...here, "--window", "0s"], 64, /from 1s to 36500d/],
  [[...here, "--window", "99999d"], 64, /from 1s to 36500d/],
  [[...here, "-i", "inventory-wrong.yaml", "--quiet"], 65, /^inventory-wrong\.yaml:\d+:\d+ /m],
  [[...here, "--commit", "zz"], 64, /write at least 7 digits/],
  [[...here, "--by", " "], 64, /--by names nobody/],
  [[...here, "--format", "json", "-o", "cluster.yaml", "--item", "1"], 69, /cannot write to cluster\.yaml/],
  [[...here, "--rubbish"], 64, /unknown option/],
])("%j ends with %i", async (args, code, stderr) => {
  const found = await run(args);
  expect({ code: found.code, stderr: found.stderr }).toEqual({ code, stderr: expect.stringMatching(stderr) });
});
