/** The storage forecast against a real PostgreSQL: written to a file first, then about a million rows. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { forecastRecords } from "../../src/capacity/storage/record-forecast.ts";
import { recordShapes } from "../../src/capacity/storage/record-shape.ts";
import { verifyPatterns } from "../../src/capacity/storage/verify-patterns.ts";
import { runEscapement } from "../support/processes.ts";

const seed = Number(process.env.ESCAPEMENT_VERIFY_SEED ?? 20_261);
console.info(`capacity verify: seed ${seed} (ESCAPEMENT_VERIFY_SEED)`);
const parts = ["heap", "index", "wal"] as const;

test("table and index within 3 %, log within 15 %, over at least six loads, more than a million rows", {
  timeout: 900_000,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), "escapement-verify-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const forecastFile = join(folder, "forecast.json");
  const run = await runEscapement([
    "capacity",
    "verify",
    "--seed",
    String(seed),
    "--forecast",
    forecastFile,
    "--no-commits",
    "--json",
  ]);
  expect(run.stderr).toContain(`seed ${seed}`);
  // The forecast stood in its file before the first load was told.
  expect(run.stderr.indexOf("forecast of")).toBeGreaterThan(0);
  expect(run.stderr.indexOf("forecast of")).toBeLessThan(run.stderr.indexOf(" rows in "));
  const report = JSON.parse(run.stdout);
  console.info(
    report.loads
      .map(
        (load: { name: string; rows: number; error: Record<string, number> }) =>
          `${load.name}: ${load.rows} rows, ${parts.map((part) => `${part} ${((load.error[part] ?? 0) * 100).toFixed(1)} %`).join(", ")}`,
      )
      .join("\n"),
  );
  expect(report.rows).toBeGreaterThan(1_000_000);
  expect(report.loads.length).toBeGreaterThanOrEqual(8);
  expect(report.loads.filter(({ name }: { name: string }) => name.startsWith("random-"))).toHaveLength(2);
  for (const load of report.loads) {
    expect(Math.abs(load.error.heap), `${load.name} heap`).toBeLessThanOrEqual(0.03);
    expect(Math.abs(load.error.index), `${load.name} index`).toBeLessThanOrEqual(0.03);
    expect(Math.abs(load.error.wal), `${load.name} log`).toBeLessThanOrEqual(0.15);
  }
  expect(report.passed).toBe(true);
  expect(run.code).toBe(0);
  // What was compared is what the file says.
  const file = JSON.parse(readFileSync(forecastFile, "utf8"));
  expect(file).toMatchObject({ seed, scale: 1 });
  for (const [i, load] of report.loads.entries()) {
    const { forecast } = file.loads[i];
    expect(load.forecast.heap).toBeCloseTo(forecast.heapBytes / forecast.shards, 6);
  }
});

test("the limits are narrow enough to notice a wrong picture of the schema", () => {
  const load = verifyPatterns(1, 0.5).find(({ name }) => name === "lifecycle")!;
  const right = forecastRecords(load, recordShapes);
  const off = (what: "heapBytes" | "indexBytes" | "walBytes", shard: Partial<typeof recordShapes.shard>) =>
    Math.abs(
      forecastRecords(load, { ...recordShapes, shard: { ...recordShapes.shard, ...shard } })[what] /
        right[what] -
        1,
    );
  // One bigint more, another fill factor, one more index.
  const { columns, indexes } = recordShapes.shard;
  expect(
    off("heapBytes", {
      columns: columns.map((column) => (column.name === "shard_no" ? { ...column, length: 12 } : column)),
    }),
  ).toBeGreaterThan(0.03);
  expect(off("heapBytes", { fillFactor: 50 })).toBeGreaterThan(0.03);
  expect(off("indexBytes", { indexes: [...indexes, { ...indexes[0]!, name: "second" }] })).toBeLessThan(1);
  expect(
    off("indexBytes", { indexes: [{ ...indexes[0]!, columns: ["job_id", "fire_time"] }] }),
  ).toBeGreaterThan(0.03);
});

test("a random load follows from its seed", () => {
  const names = (one: number) => JSON.stringify(verifyPatterns(one, 1).slice(-2));
  expect(names(5)).toBe(names(5));
  expect(names(5)).not.toBe(names(6));
});
