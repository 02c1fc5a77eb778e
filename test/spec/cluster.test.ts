/** Cluster files: defaults of the machinery, paths, and what jobs must fit into. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { loadText } from "../../src/spec/load.ts";
import { formatProblem } from "../../src/spec/problem.ts";
import { resolveJobs } from "../../src/spec/resolve.ts";
import { loadCluster } from "../../src/spec/resolve-cluster.ts";
import { fullJob } from "./full-job.ts";

const smallest = `
apiVersion: escapement/v1
kind: Cluster
metadata: { name: small }
spec:
  store: { urlFile: secrets/store-url }
  scheduler:
    nodes: [{ name: s1, http: { address: 127.0.0.1, port: 7101 } }]
  executor:
    nodes: [{ name: e1, slots: { cpu: 4, memory: 0, io: 2 }, workDirectory: work/e1 }]
  logs: { directory: /var/log/escapement }
`;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "cluster-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

async function load(text: string) {
  const file = join(folder, "cluster.yaml");
  writeFileSync(file, text);
  const { cluster, problems } = await loadCluster(file);
  return { cluster, problems: problems.map((problem) => formatProblem(problem).replace(`${folder}/`, "")) };
}

test("the smallest cluster has every setting, and its paths start at its file", async () => {
  expect(await load(smallest)).toEqual({
    problems: [],
    cluster: {
      name: "small",
      store: { from: "file", urlFile: join(folder, "secrets/store-url") },
      scheduler: {
        leaseMs: 15_000,
        renewEveryMs: 5_000,
        stopEarlyMs: 3_000,
        lookAheadMs: 120_000,
        maxSleepMs: 1_000,
        clockLeaveMs: 500,
        clockRefuseMs: 1_000,
        nodes: [{ name: "s1", http: { address: "127.0.0.1", port: 7101 } }],
      },
      executor: {
        leaseMs: 15_000,
        renewEveryMs: 5_000,
        stopEarlyMs: 3_000,
        graceMs: 30_000,
        isolation: "none",
        nodes: [
          {
            name: "e1",
            slots: { cpu: 4, memory: 0, io: 2, control: 0 },
            workDirectory: join(folder, "work/e1"),
          },
        ],
      },
      catchUp: { share: 0.5 },
      records: { retentionMonths: 13 },
      logs: { directory: "/var/log/escapement", maxFileBytes: 10 * 1024 * 1024, keepFiles: 60 },
    },
  });
});

test.each([
  ["{ url: postgres://localhost/escapement }", { from: "url", url: "postgres://localhost/escapement" }],
  ["{ urlEnv: STORE_URL }", { from: "env", urlEnv: "STORE_URL" }],
])("the store may be named as %s", async (written, store) => {
  const { cluster } = await load(smallest.replace("{ urlFile: secrets/store-url }", written));
  expect(cluster?.store).toEqual(store);
});

test.each([
  [
    `${smallest}---\n${smallest.replace("small", "other")}`,
    "cluster.yaml:14:1  is a second kind: Cluster; name a file with one",
  ],
  [
    "apiVersion: escapement/v1\nkind: PolicySet\nmetadata: { name: p }\nspec: {}",
    "cluster.yaml  has no document of kind: Cluster",
  ],
])("a file has exactly one cluster", async (text, problem) => {
  expect(await load(text)).toEqual({ cluster: undefined, problems: [problem] });
});

test("a file that is not there is a problem, not an exception", async () => {
  expect((await loadCluster(join(folder, "nowhere.yaml"))).problems).toMatchObject([
    { message: "there is no such file or folder", line: 0 },
  ]);
});

test("jobs are checked against the cluster: lease and resource class", async () => {
  const { cluster } = await load(smallest);
  const check = (spec: object) => {
    const job = fullJob();
    Object.assign(job.spec, spec);
    const { documents } = loadText(JSON.stringify(job, null, 1), "job.yaml");
    return resolveJobs(documents, { cluster: cluster! }).problems.map((problem) => formatProblem(problem));
  };
  expect(check({})).toEqual([]);
  expect(check({ lease: "15s" })).toEqual([]);
  expect(check({ lease: "14999ms" })).toEqual([
    expect.stringMatching(
      /^job\.yaml:\d+:\d+ {2}spec\.lease must be at least 15s: .*cluster small; found 14s999ms$/,
    ),
  ]);
  expect(check({ resources: { class: "memory", peakMemory: "1GiB" } })).toEqual([
    expect.stringMatching(
      /^job\.yaml:\d+:\d+ {2}spec\.resources\.class no executor of cluster small has a slot of class memory$/,
    ),
  ]);
  expect(check({ runAs: "settlement" })).toEqual([
    expect.stringMatching(
      /^job\.yaml:\d+:\d+ {2}spec\.runAs needs executor\.isolation: scope.*found settlement$/,
    ),
  ]);
});
