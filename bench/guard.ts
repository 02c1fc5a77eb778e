/**
 * What claim, fence and ledger cost, a row and a batch of 1,000, against the bare insert in the same run.
 *
 * One connection, a server of its own with fsync on. The ways take turns; the
 * median of the rounds counts. `npm run bench -- guard [--rounds N] [--json]`
 */
import pg from "pg";
import { monotonicMs } from "../src/base/monotonic.ts";
import { openGuard } from "../src/guard/index.ts";
import { startPostgres } from "../src/lab/postgres.ts";
import { Database } from "../src/store/database.ts";
import { installGuard } from "../src/store/guard-schema.ts";

const rounds = Number(process.argv[process.argv.indexOf("--rounds") + 1]) || 7;
const rowsAlone = 300;
const batchRows = 1_000;

const server = await startPostgres();
const database = new Database(server.url);
await installGuard(database);
await database.end();
const client = new pg.Client({ connectionString: server.url });
await client.connect();
await client.query("CREATE TABLE paid (person text, cents bigint)");
const guard = openGuard(client);

let serial = 0;
const nextKey = () => `bench/2026-07/${++serial}`;
const insert = (key: string) => client.query("INSERT INTO paid VALUES ($1, $2)", [key, 100]);
const insertMany = (keys: readonly string[]) =>
  client.query("INSERT INTO paid SELECT key, 100 FROM unnest($1::text[]) AS key", [keys]);
const accepted = async () => ({ receipt: 1 });
const call = (key: string) =>
  guard.externalCall(
    key,
    { receiver: { name: "bank", deduplicating: true }, request: { cents: 100 }, leaseMs: 30_000 },
    accepted,
  );

async function transaction(work: () => Promise<unknown>): Promise<void> {
  await client.query("BEGIN");
  await work();
  await client.query("COMMIT");
}

async function times(count: number, work: (key: string) => Promise<unknown>): Promise<void> {
  for (let i = 0; i < count; i++) await work(nextKey());
}

const keys = () => Array.from({ length: batchRows }, nextKey);

interface Way {
  readonly name: string;
  readonly rows: number;
  run(): Promise<unknown>;
}

interface Group {
  readonly name: string;
  /** The first is the bare insert. */
  readonly ways: readonly Way[];
}

const alone = (name: string, work: (key: string) => Promise<unknown>): Way => ({
  name,
  rows: rowsAlone,
  run: () => times(rowsAlone, work),
});
const batch = (name: string, run: () => Promise<unknown>): Way => ({ name, rows: batchRows, run });

const groups: readonly Group[] = [
  {
    name: "a row, in a transaction of its own",
    ways: [
      alone("bare insert", (key) => transaction(() => insert(key))),
      alone("claim + insert", (key) =>
        transaction(() => guard.claim(key, client, async () => void (await insert(key)))),
      ),
      alone("claim + insert + kept result", (key) =>
        transaction(() =>
          guard.claim(key, client, async () => {
            await insert(key);
            return { cents: 100 };
          }),
        ),
      ),
      alone("fence + insert", (key) =>
        transaction(async () => {
          await guard.withFence(client, { resource: "bench/2026-07", token: 7 });
          await insert(key);
        }),
      ),
      alone("ledger (call that costs nothing) + insert", async (key) => {
        await call(key);
        await transaction(() => insert(key));
      }),
    ],
  },
  {
    name: `${batchRows} rows one by one, in one transaction`,
    ways: [
      batch("bare insert", () => transaction(() => times(batchRows, insert))),
      batch("claim + insert each", () =>
        transaction(() =>
          times(batchRows, (key) => guard.claim(key, client, async () => void (await insert(key)))),
        ),
      ),
    ],
  },
  {
    name: `a batch of ${batchRows} rows, one insert`,
    ways: [
      batch("bare insert", () => transaction(() => insertMany(keys()))),
      batch("claimMany + insert", () =>
        transaction(async () => insertMany(await guard.claimMany(keys(), client))),
      ),
      batch("fence + insert", () =>
        transaction(async () => {
          await guard.withFence(client, { resource: "bench/2026-07", token: 7 });
          await insertMany(keys());
        }),
      ),
      batch("one ledger entry for the batch + insert", async () => {
        await call(nextKey());
        await transaction(() => insertMany(keys()));
      }),
    ],
  },
];

const figures = new Map<Way, number[]>();
const ways = groups.flatMap((group) => group.ways);
for (let round = 0; round <= rounds; round++) {
  for (const way of ways) {
    const began = monotonicMs();
    await way.run();
    const usPerRow = ((monotonicMs() - began) * 1_000) / way.rows;
    // The first round warms up plans and caches.
    if (round > 0) figures.set(way, [...(figures.get(way) ?? []), usPerRow]);
  }
}
await client.end();
await server.remove();

const median = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
const results = groups.map((group) => {
  const bare = median(figures.get(group.ways[0]!)!);
  const rows = group.ways.map((way) => {
    const all = figures.get(way)!;
    const us = median(all);
    return {
      name: way.name,
      usPerRow: us,
      ratio: us / bare,
      extraUs: us - bare,
      lowest: Math.min(...all),
      highest: Math.max(...all),
    };
  });
  return { name: group.name, rows };
});

if (process.argv.includes("--json")) {
  console.log(JSON.stringify({ rounds, results }));
} else {
  for (const group of results) {
    console.log(`\n${group.name} (µs a row, median of ${rounds} rounds, lowest–highest)`);
    for (const row of group.rows) {
      const range = `${row.lowest.toFixed(1)}–${row.highest.toFixed(1)}`;
      console.log(
        `  ${row.name.padEnd(44)} ${row.usPerRow.toFixed(1).padStart(9)}  ${range.padEnd(20)} ${row.ratio.toFixed(2)}x  +${row.extraUs.toFixed(1)}`,
      );
    }
  }
}
