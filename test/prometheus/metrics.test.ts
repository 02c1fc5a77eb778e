/** Every metric that rules and dashboard name is there, in what real processes serve; a real Prometheus can read it. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { stringify } from "yaml";
import { freePort } from "../../src/lab/free-port.ts";
import { type ProcessCluster, startProcessCluster } from "../../src/lab/process-cluster.ts";
import { startEscapement, startProcess } from "../support/processes.ts";
import { unavailable } from "../support/tier.ts";
import { until } from "../support/until.ts";
import { alertsPath, metricNames } from "./pages.ts";

const limit = 240_000;
const patient = { deadlineMs: 90_000 };
const missing = unavailable("Prometheus", existsSync("/usr/bin/prometheus"));

let cluster: ProcessCluster;
let folder = "";
const addresses = new Map<string, string>();

beforeAll(async () => {
  cluster = await startProcessCluster({ schedulers: 1, executors: 1, postgresSettings: { fsync: "off" } });
  addresses.set("escapement-scheduler", new URL(cluster.schedulers[0]!.httpUrl!).host);
  addresses.set("escapement-executor", new URL(cluster.executors[0]!.httpUrl!).host);
  const watchman = `127.0.0.1:${await freePort()}`;
  folder = mkdtempSync(join(tmpdir(), "metrics-"));
  const watchFile = join(folder, "watch.yaml");
  writeFileSync(watchFile, watchText(`http://${addresses.get("escapement-scheduler")}`));
  await startEscapement(
    [
      "watchman",
      "--cluster",
      cluster.clusterFile,
      "--watch",
      watchFile,
      "--node",
      "watch-1",
      "--http",
      watchman,
    ],
    { environment: { ESCAPEMENT_STORE_URL: cluster.storeUrl } },
  );
  addresses.set("escapement-watchman", watchman);
  await until(
    () => metricsOf("escapement-watchman").then((text) => /^escapement_watchman_leader 1/m.test(text)),
    {
      ...patient,
      what: "the first pass of the watchman",
    },
  );
}, limit);

afterAll(async () => {
  await cluster?.down();
  if (folder) rmSync(folder, { recursive: true, force: true });
}, limit);

/** A channel, a heartbeat and a test alert, so that everything about deliveries is served. */
function watchText(heartbeat: string): string {
  return `apiVersion: escapement/v1
kind: Watch
metadata: { name: test }
spec:
  every: 1s
  spoolFile: spool
  channels: [{ name: ops, type: exec, command: ["true"] }]
  routes: [{ channels: [ops] }]
  heartbeat: { url: "${heartbeat}", every: 1s }
  testAlert: { cron: "* * * * *", zone: UTC }
`;
}

async function metricsOf(job: string): Promise<string> {
  const answer = await fetch(`http://${addresses.get(job)}/metrics`).catch(() => null);
  return answer?.ok ? answer.text() : "";
}

test("every metric that rules and dashboard name is declared by the process that its name says", async () => {
  const declared = new Map<string, string>();
  for (const job of addresses.keys())
    for (const [, name] of (await metricsOf(job)).matchAll(/^# TYPE (\S+) /gm)) declared.set(name!, job);
  const names = metricNames();
  expect(names.size).toBeGreaterThan(25);
  for (const name of names)
    expect([name, declared.get(name)]).toEqual([name, `escapement-${name.split("_")[1]}`]);
});

test.skipIf(missing)("promtool finds nothing wrong with what they serve", async () => {
  for (const job of addresses.keys()) {
    const { stdout, stderr, status } = spawnSync("/usr/bin/promtool", ["check", "metrics"], {
      input: await metricsOf(job),
      encoding: "utf8",
    });
    expect([job, status, stdout + stderr]).toEqual([job, 0, ""]);
  }
});

test.skipIf(missing)(
  "a real Prometheus scrapes them, and its rules see the standby that is missing, and no false trouble",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "prometheus-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const port = await freePort();
    writeFileSync(
      join(folder, "prometheus.yaml"),
      stringify({
        global: { scrape_interval: "1s", evaluation_interval: "1s" },
        rule_files: [alertsPath],
        scrape_configs: [...addresses].map(([job, address]) => ({
          job_name: job,
          static_configs: [{ targets: [address] }],
        })),
      }),
    );
    await startProcess([
      "/usr/bin/prometheus",
      `--config.file=${join(folder, "prometheus.yaml")}`,
      `--storage.tsdb.path=${join(folder, "data")}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ]);
    const query = async (
      expr: string,
    ): Promise<{ metric: Record<string, string>; value: [number, string] }[]> => {
      const url = `http://127.0.0.1:${port}/api/v1/query?query=${encodeURIComponent(expr)}`;
      const answer = await fetch(url).catch(() => null);
      if (!answer?.ok) return [];
      return ((await answer.json()) as { data: { result: [] } }).data.result;
    };
    const scraped = async () => (await query("up == 1")).length === 3;
    await until(scraped, { ...patient, what: "three targets that are up" });
    const pending = async () =>
      (await query('ALERTS{alertname="EscapementNoStandby"}')).some(
        ({ metric }) => metric.alertstate === "pending",
      );
    await until(pending, { ...patient, what: "the alert of a missing standby, pending" });
    expect(await query('ALERTS{alertname="EscapementNoLeader"}')).toEqual([]);
    expect(await query('ALERTS{alertname="EscapementTwoLeaders"}')).toEqual([]);
  },
  limit,
);
