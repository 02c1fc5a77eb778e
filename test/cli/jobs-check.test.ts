/** `jobs check` and `jobs schema` as a person or a pipeline runs them. */
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fullJob } from "../spec/full-job.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "jobs-check-"));
  const wrong = fullJob();
  Object.assign(wrong.spec, { lease: "5s", schedule: { cron: "0 0 31 2 *" } });
  write("right/a.yaml", JSON.stringify(fullJob()));
  write("wrong/a.yaml", JSON.stringify(wrong, null, 1));
  write("wrong/b.yaml", "kind: Job\nspec:\n  cron: * * * * *\n");
  write("cluster.yaml", cluster);
});
afterAll(() => rmSync(folder, { recursive: true }));

const cluster = `apiVersion: escapement/v1
kind: Cluster
metadata: { name: small }
spec:
  store: { urlEnv: STORE_URL }
  scheduler: { nodes: [{ name: s, http: { address: 127.0.0.1, port: 7101 } }] }
  executor: { nodes: [{ name: e, slots: { cpu: 1, memory: 0, io: 0 }, workDirectory: w }] }
  logs: { directory: logs }
`;

function write(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

function run(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const bin = join(process.cwd(), "bin/escapement.mjs");
    execFile(process.execPath, [bin, "jobs", ...args], { cwd: folder }, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr });
    });
  });
}

describe("check", () => {
  test("right files: one line, exit code 0", async () => {
    expect(await run("check", "right", "--cluster", "cluster.yaml")).toEqual({
      code: 0,
      stdout: "ok: 1 Job in 1 file, no problem\n",
      stderr: "",
    });
  });

  test("wrong files: a line for each problem, then the count, exit code 65", async () => {
    const { code, stdout, stderr } = await run("check", "wrong", "right", "--cluster", "cluster.yaml");
    expect(stdout.split("\n")).toEqual([
      expect.stringMatching(
        /^right\/a\.yaml:1:\d+ {2}metadata\.name Job finance\/settlement is already defined at wrong\/a\.yaml:5:11$/,
      ),
      expect.stringMatching(
        /^wrong\/a\.yaml:20:12 {2}spec\.schedule\.cron .*0 0 31 2 \*.* never fires; found "0 0 31 2 \*"$/,
      ),
      expect.stringMatching(/^wrong\/a\.yaml:\d+:12 {2}spec\.lease must be at least 15s: .*; found 5s$/),
      'wrong/b.yaml:3:9  a value that begins with * is read as an alias; put the value in quotes, for example "*/5 * * * *"',
      "not ok: 4 problems in 3 files; 3 Jobs in 3 files",
      "",
    ]);
    expect({ code, stderr }).toEqual({ code: 65, stderr: "" });
  });

  test("a cluster file with problems is told once, also when it is among the paths", async () => {
    write("bad-cluster.yaml", cluster.replace("urlEnv", "urlenv"));
    const { code, stdout } = await run("check", "bad-cluster.yaml", "--cluster", "bad-cluster.yaml");
    expect(code).toBe(65);
    expect(stdout.match(/did you mean urlEnv\?/g)?.length).toBe(1);
  });

  test("--json is one document, right or wrong", async () => {
    const right = await run("check", "right", "--json");
    expect(right.code).toBe(0);
    expect(JSON.parse(right.stdout)).toEqual({
      schemaVersion: 1,
      ok: true,
      files: 1,
      documents: { Job: 1 },
      jobs: [
        {
          namespace: "finance",
          name: "settlement",
          digest: expect.stringMatching(/^[0-9a-f]{64}$/),
          file: "right/a.yaml",
          line: 1,
        },
      ],
      problems: [],
    });
    const wrong = await run("check", "wrong", "--json");
    expect(wrong.code).toBe(65);
    expect(JSON.parse(wrong.stdout)).toMatchObject({
      ok: false,
      problems: [
        { file: "wrong/a.yaml", line: 20, column: 12, path: "spec.schedule.cron" },
        { file: "wrong/b.yaml", line: 3 },
      ],
    });
  });

  test("no path is a usage error, a missing one is bad data", async () => {
    expect((await run("check")).code).toBe(64);
    const { code, stdout } = await run("check", "nowhere");
    expect(code).toBe(65);
    expect(stdout).toBe(
      "nowhere  there is no such file or folder\nnot ok: 1 problem in 1 file; no document in 0 files\n",
    );
  });
});

describe("schema", () => {
  test("prints one kind, prints all, writes all", async () => {
    const one = JSON.parse((await run("schema", "Job")).stdout);
    const all = JSON.parse((await run("schema")).stdout);
    expect(all.Job).toEqual(one);
    expect((await run("schema", "-o", "out/deep")).code).toBe(0);
    expect(readdirSync(join(folder, "out/deep")).length).toBe(Object.keys(all).length);
    expect(JSON.parse(readFileSync(join(folder, "out/deep/job.json"), "utf8"))).toEqual(one);
  });

  test("an unknown kind and a folder that cannot be written are told", async () => {
    expect(await run("schema", "Jub")).toMatchObject({
      code: 64,
      stderr: expect.stringMatching(/one of Job, PolicySet/),
    });
    const { code, stderr } = await run("schema", "-o", "cluster.yaml");
    expect({ code, stderr }).toEqual({
      code: 69,
      stderr: expect.stringMatching(/cannot write to cluster\.yaml/),
    });
  });
});
