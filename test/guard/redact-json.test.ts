/** One rule in two languages: what the library takes out before sending, the database would take out, too. */
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { redactJson } from "../../src/guard/redact-json.ts";
import { type GuardDatabase, guardDatabase } from "./guard-database.ts";

interface Case {
  readonly value: unknown;
  readonly fields?: string[];
  readonly clean: unknown;
}

const cases = JSON.parse(readFileSync("test/cases/guard/redact.json", "utf8")) as Case[];

let db: GuardDatabase;
beforeAll(async () => {
  db = await guardDatabase();
});
afterAll(() => db.close());

async function inSql(value: unknown, fields: readonly string[] = []): Promise<unknown> {
  const { rows } = await db.pool.query("SELECT escapement_guard.redact($1::jsonb, $2) AS clean", [
    JSON.stringify(value),
    fields,
  ]);
  return rows[0].clean;
}

test.each(cases)("$value", async ({ value, fields, clean }) => {
  expect(redactJson(value, fields)).toEqual(clean);
  expect(await inSql(value, fields)).toEqual(clean);
});

test("both agree on any JSON, and doing it twice changes nothing", async () => {
  const name = fc.constantFrom(
    "a",
    "b",
    "Token",
    "api-key",
    "my_password",
    "note",
    "secretary",
    "Set-Cookie",
  );
  const leaf = fc.oneof(
    fc.constantFrom("x", "https://u:p@h", "a://b:c@d/e://f:g@h"),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
  );
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: "small" },
      leaf,
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(name, tie("value"), { maxKeys: 3 }),
    ),
  }));
  await fc.assert(
    fc.asyncProperty(value, async (any) => {
      const clean = redactJson(any);
      expect(await inSql(any)).toEqual(clean);
      expect(redactJson(clean)).toEqual(clean);
    }),
    { numRuns: 200 },
  );
});
