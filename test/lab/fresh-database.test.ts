import { expect, inject, test } from "vitest";
import { Database } from "../../src/store/database.ts";
import { freshDatabase } from "../support/database.ts";

test("a fresh database is empty, one's own, and gone after drop", async () => {
  const [one, two] = await Promise.all([
    freshDatabase({ migrated: false }),
    freshDatabase({ migrated: false }),
  ]);
  expect(one.url).not.toBe(two.url);
  const database = new Database(one.url);
  const { rows } = await database.query(
    "SELECT count(*)::int AS n FROM pg_tables WHERE schemaname NOT IN ('pg_catalog','information_schema')",
  );
  expect(rows[0]?.n).toBe(0);
  await database.end();
  await one.drop();
  await two.drop();
  const admin = new Database(inject("postgresUrl"));
  const left = await admin.query("SELECT 1 FROM pg_database WHERE datname = ANY($1)", [
    [one.url, two.url].map((url) => new URL(url).pathname.slice(1)),
  ]);
  await admin.end();
  expect(left.rows).toEqual([]);
});

test("a migrated database has the records' schema, whoever asks first", async () => {
  const fresh = await Promise.all([1, 2, 3].map(() => freshDatabase({ migrated: true })));
  for (const { url, drop } of fresh) {
    const database = new Database(url);
    const { rows } = await database.query("SELECT count(*)::int AS n FROM escapement.execution");
    expect(rows[0]?.n).toBe(0);
    await database.end();
    await drop();
  }
});
