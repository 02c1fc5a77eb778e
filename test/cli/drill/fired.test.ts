/** A drill of the timetable, fired by a scheduler and started by an executor with a control slot. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { startProcessCluster } from "../../../src/lab/process-cluster.ts";
import { listDrillRuns } from "../../../src/store/drill/drill-run.ts";
import { runEscapement } from "../../support/processes.ts";
import { until } from "../../support/until.ts";
import { writeClusterFiles } from "./cluster-files.ts";

const program = fileURLToPath(new URL("../../../bin/escapement.mjs", import.meta.url));

function timetable(folder: string): string {
  return [
    "apiVersion: escapement/v1",
    "kind: DrillSchedule",
    "metadata: { name: test }",
    "spec:",
    "  timeZone: Etc/UTC",
    '  officeHours: { weekdays: [sun, mon, tue, wed, thu, fri, sat], from: "00:00", to: "23:59" }',
    "  seed: test",
    "  peakDays: []",
    "  freezes:",
    '    - { from: "2020-01-01T00:00:00Z", to: "2199-01-01T00:00:00Z", reason: quiet century }',
    "  drills:",
    "    - { drill: kill-executor, class: executor-killed }",
    "  controller:",
    `    program: [${JSON.stringify(process.execPath)}, ${JSON.stringify(program)}]`,
    `    inventory: ${join(folder, "inventory.yaml")}`,
    `    cluster: ${join(folder, "site.yaml")}`,
    `    reports: ${join(folder, "reports")}`,
    "",
  ].join("\n");
}

test("it runs once, as its job says, and what it answers is in the records", async () => {
  const slots = { cpu: 1, memory: 1, io: 1, control: 1 };
  const cluster = await startProcessCluster({ schedulers: 1, executors: 1, slots });
  onTestFinished(async () => {
    await cluster.down();
  });
  const folder = cluster.directory;
  await writeClusterFiles(folder, cluster.storeUrl, "site.yaml");
  writeFileSync(join(folder, "weekly.yaml"), timetable(folder));
  const cli = (...args: string[]) =>
    runEscapement([...args, "--url", cluster.storeUrl], { workingFolder: folder });
  const applied = await cli("drill", "schedule", "apply", "weekly.yaml", "--reason", "test");
  expect(applied, applied.stderr).toMatchObject({ code: 0 });
  // The same as a fire, without waiting for the day.
  const run = await cli("run", "drills/kill-executor", "--reason", "test", "--wait", "--json");
  expect(run.code, run.stderr).toBe(0);
  const runs = await until(
    async () => {
      const found = await listDrillRuns(cluster.store);
      return found.length > 0 && found;
    },
    { what: "the run in the records" },
  );
  expect(runs).toMatchObject([
    {
      drill: "kill-executor",
      class: "executor-killed",
      trigger: "schedule",
      verdict: "unknown",
      reason: expect.stringMatching(/^left out: frozen from 2020-01-01.*quiet century$/),
    },
  ]);
  const { rows } = await cluster.store.query<{ status: string; attempts: number }>(
    "SELECT status, (SELECT count(*)::integer FROM escapement.shard_attempt) AS attempts FROM escapement.execution",
  );
  // Left out by its own calendar: nothing for the watchman to tell, and no try that failed.
  expect(rows).toEqual([{ status: "success", attempts: 0 }]);
}, 180_000);
