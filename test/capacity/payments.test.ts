/** Shards and skew of real payments, by supplier; skipped, and said so, where the data is not there. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { runEscapement } from "../support/processes.ts";

const folder = fileURLToPath(new URL("../../../shared/data/payments/", import.meta.url));
const isThere = existsSync(folder);
if (!isThere) console.warn("unknown: the real payments are not here; their tests are skipped");

test.skipIf(!isThere)("90 minutes of payments on eight machines, shared out by supplier", async () => {
  const files = readdirSync(folder)
    .filter((name) => name.endsWith(".csv"))
    .map((name) => join(folder, name));
  const run = await runEscapement([
    "capacity",
    "shards",
    "--total",
    "90m",
    "--target",
    "3m",
    "--nodes",
    "8",
    "--keys",
    ...files,
    "--key-column",
    "supplier_id",
    "--json",
  ]);
  expect(run.stderr).toBe("");
  expect(run.code).toBe(0);
  const { chosen, alternatives } = JSON.parse(run.stdout);
  expect(chosen.shards).toBe(32);
  expect(alternatives[0].shards).toBe(40);
  // The largest supplier has 6 % of the rows: not split off, but its shard is far above the mean.
  expect(chosen.skew.split).toEqual([]);
  expect(chosen.skew.imbalanceBefore).toBeGreaterThan(2);
  expect(chosen.skew.imbalanceBefore).toBeLessThan(4);
  expect(chosen.skew.empty).toBe(0);
  expect(chosen.longestShardMs).toBeGreaterThan(chosen.shardMs);
});

test.skipIf(!isThere)("by amount the file is refused: credit notes are negative", async () => {
  const file = join(folder, "payments-2017-05.csv");
  const run = await runEscapement([
    "capacity",
    "shards",
    "--total",
    "90m",
    "--target",
    "3m",
    "--nodes",
    "8",
    "--keys",
    file,
    "--key-column",
    "supplier_id",
    "--weight-column",
    "amount",
  ]);
  expect(run.code).toBe(65);
  expect(run.stderr).toMatch(
    /amount is "-418785.60", not a number of at least 0\n\s+at .*payments-2017-05\.csv:18/,
  );
});
