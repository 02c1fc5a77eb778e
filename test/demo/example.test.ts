/** The programs of examples/settlement, run one by one as an executor would, without one. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readExample } from "../../src/lab/demo/example.ts";
import { judgeSettlement } from "../../src/lab/demo/judge-settlement.ts";
import { Ledger } from "../../src/lab/demo/ledger.ts";
import type { Payment } from "../../src/lab/demo/payment.ts";
import { generatePayments, generatePeople } from "../../src/lab/demo/payment-generator.ts";
import { startPayoutEndpoint } from "../../src/lab/demo/payout-endpoint.ts";
import { shardOf } from "../../src/spec/shard-of.ts";
import { Database } from "../../src/store/database.ts";
import { type FreshDatabase, freshDatabase } from "../support/database.ts";

const run = promisify(execFile);
const example = await readExample();
const period = "2026-07";
const payments: readonly Payment[] = generatePayments(9, [period]).slice(0, 2_000);
const people = generatePeople(9);
const hashShards = 2;
const heavy = "S-0001";

let fresh: FreshDatabase;
let ledger: Ledger;
let db: Database;
beforeAll(async () => {
  fresh = await freshDatabase({ migrated: false });
  ledger = new Ledger(fresh.url);
  db = new Database(fresh.url, { maxConnections: 1 });
  await ledger.fill(example.ledgerSchema, payments, people);
});
afterAll(async () => {
  await ledger.close();
  await db.end();
  await fresh.drop();
});

/** One attempt, with what the executor would tell it. */
async function attempt(
  program: string,
  shardNo: number,
  token: number,
  environment: Record<string, string> = {},
) {
  const url = new URL(fresh.url);
  url.username = "ledger_job";
  return run(process.execPath, [join(example.folder, program)], {
    env: {
      LEDGER_URL: url.href,
      ESCAPEMENT_JOB: "finance/settlement",
      ESCAPEMENT_FIRE_TIME: "2026-08-01T01:00:00.000Z",
      ESCAPEMENT_PERIOD: period,
      ESCAPEMENT_SHARD_NO: String(shardNo),
      ESCAPEMENT_HASH_SHARDS: String(hashShards),
      ESCAPEMENT_FENCE_TOKEN: String(token),
      ESCAPEMENT_IDEMPOTENCY_KEY: `finance/settlement/${period}`,
      ...(shardNo < hashShards
        ? { ESCAPEMENT_HEAVY_KEYS: JSON.stringify([heavy]) }
        : { ESCAPEMENT_SHARD_KEY: heavy }),
      ...environment,
    },
  });
}

test("the settlement of all shards is right, also when every shard runs twice", async () => {
  for (const token of [10, 20]) {
    for (const shard of [0, 1, 2]) await attempt("settle.mjs", shard, token);
    expect(judgeSettlement(payments, await ledger.settled()).findings).toEqual([]);
  }
});

test("a shard that did not run is missing, and nothing else", async () => {
  await db.query("DELETE FROM settlement WHERE supplier_id = $1", [heavy]);
  const { findings } = judgeSettlement(payments, await ledger.settled());
  expect(findings).toMatchObject([{ kind: "lost", what: expect.stringContaining(heavy) }]);
  await attempt("settle.mjs", 2, 30);
  expect(judgeSettlement(payments, await ledger.settled()).findings).toEqual([]);
});

test("a penny off in the table and a row that is there twice are found", async () => {
  await db.query("UPDATE settlement SET pence = pence + 1 WHERE supplier_id = 'S-0007'");
  expect(judgeSettlement(payments, await ledger.settled()).findings).toMatchObject([{ kind: "wrong" }]);
  await db.query("UPDATE settlement SET pence = pence - 1 WHERE supplier_id = 'S-0007'");
  await db.query("INSERT INTO settlement SELECT * FROM settlement WHERE supplier_id = 'S-0008'");
  expect(judgeSettlement(payments, await ledger.settled()).findings).toMatchObject([{ kind: "doubled" }]);
  await attempt("settle.mjs", shardOf("S-0008", hashShards), 40);
  expect(judgeSettlement(payments, await ledger.settled()).findings).toEqual([]);
});

test("an older token is refused, changes nothing and is counted", async () => {
  const before = await ledger.settled();
  await db.query("UPDATE payment SET pence = pence + 1 WHERE supplier_id = $1", [heavy]);
  await expect(attempt("settle.mjs", 2, 29)).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/refused: finance\/settlement\/2026-07\/2 .* newer token than 29/),
  });
  expect(await ledger.settled()).toEqual(before);
  expect(await ledger.refusedWrites()).toBe(1);
  await db.query("UPDATE payment SET pence = pence - 1 WHERE supplier_id = $1", [heavy]);
});

test("the ledger's shards are everybody's shards", async () => {
  const keys = ["", "S-0001", "ä", "a".repeat(500), ...people.map(({ person }) => person)];
  for (const count of [1, 4, 32, 9_999]) {
    const { rows } = await db.query<{ shard: number }>(
      "SELECT shard_of(key, $2) AS shard FROM unnest($1::text[]) WITH ORDINALITY AS k(key, n) ORDER BY n",
      [keys, count],
    );
    expect(rows.map(({ shard }) => shard)).toEqual(keys.map((key) => shardOf(key, count)));
  }
});

test("a payout that is repeated pays everybody once, in shards that leave nobody out", async () => {
  const endpoint = await startPayoutEndpoint();
  try {
    const environment = { PAYOUT_URL: endpoint.url, ESCAPEMENT_HEAVY_KEYS: "[]" };
    for (const shard of [0, 1, 0]) await attempt("pay-bonus.mjs", shard, 1, environment);
    const paid = endpoint.accepted.map(({ person, pence }) => ({ person, bonusPence: pence }));
    expect(paid.sort((a, b) => (a.person < b.person ? -1 : 1))).toEqual(people);
    expect(endpoint.repeats).toBe(people.filter(({ person }) => shardOf(person, hashShards) === 0).length);
    expect(endpoint.refused).toBe(0);
  } finally {
    await endpoint.close();
  }
});

test("a snapshot is there once, however often it is taken", async () => {
  for (const token of [1, 2])
    await attempt("snapshot.mjs", 0, token, { ESCAPEMENT_JOB: "finance/rates-refresh" });
  expect(await ledger.snapshots()).toEqual([
    { job: "finance/rates-refresh", fireMs: Date.parse("2026-08-01T01:00:00Z"), count: 1 },
  ]);
});
