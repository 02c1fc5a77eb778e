/** replaceWhole: readers see the old figures or the new ones, never a mix, never nothing. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ReplaceBy } from "../../src/guard/index.ts";
import { type GuardDatabase, guardDatabase } from "./guard-database.ts";

let db: GuardDatabase;
beforeAll(async () => {
  db = await guardDatabase();
  await db.pool.query(`
    CREATE ROLE reporter_${process.pid};
    CREATE TABLE daily (day date, shard int, name text, value int, version bigint);
    CREATE INDEX ON daily (day, shard, version);
    CREATE TABLE monthly (month date NOT NULL, name text, value int, PRIMARY KEY (month, name)) PARTITION BY RANGE (month);
    CREATE TABLE monthly_2026_07 PARTITION OF monthly FOR VALUES FROM ('2026-07-01') TO ('2026-08-01');
    CREATE TABLE monthly_2026_08 PARTITION OF monthly FOR VALUES FROM ('2026-08-01') TO ('2026-09-01');
    CREATE TABLE ranking (id serial PRIMARY KEY, name text UNIQUE, value int NOT NULL DEFAULT 0);
    GRANT SELECT ON ranking, monthly_2026_07 TO reporter_${process.pid}`);
  await db.guard.liveView("daily_live", "daily", "version", ["day", "shard"]);
});
afterAll(async () => {
  await db.pool.query(`DROP OWNED BY reporter_${process.pid}; DROP ROLE reporter_${process.pid}`);
  await db.close();
});

const rows = (value: number, count = 20, more: Record<string, unknown> = {}) =>
  Array.from({ length: count }, (_, i) => ({ name: `n${i}`, value, ...more }));

interface Way {
  readonly name: string;
  readonly target: ReplaceBy;
  readonly scope: Record<string, unknown>;
  readonly more: Record<string, unknown>;
  readonly read: string;
}

const ways: readonly Way[] = [
  {
    name: "version",
    target: { by: "version", table: "daily", versionColumn: "version" },
    scope: { day: "2026-07-01", shard: 3 },
    more: {},
    read: "daily_live WHERE day = '2026-07-01' AND shard = 3",
  },
  {
    name: "partition",
    target: { by: "partition", table: "monthly" },
    scope: { partition: "monthly_2026_07" },
    more: { month: "2026-07-09" },
    read: "monthly WHERE month = '2026-07-09'",
  },
  { name: "table", target: { by: "table", table: "ranking" }, scope: {}, more: {}, read: "ranking" },
];

describe.each(ways)("by $name", ({ target, scope, more, read }) => {
  const content = async () =>
    (await db.pool.query(`SELECT count(*)::int AS count, min(value) AS low, max(value) AS high FROM ${read}`))
      .rows[0];

  test("readers that never stop looking see whole versions only", async () => {
    await db.guard.replaceWhole(target, scope, rows(0, 20, more), 6);
    let isOver = false;
    let looks = 0;
    const odd: unknown[] = [];
    const reader = async () => {
      while (!isOver) {
        const seen = await content();
        looks += 1;
        if (seen.count !== 20 + seen.low || seen.low !== seen.high) odd.push(seen);
      }
    };
    const readers = [reader(), reader(), reader()];
    for (let version = 1; version <= 15; version++)
      await db.guard.replaceWhole(target, scope, rows(version, 20 + version, more), 6);
    isOver = true;
    await Promise.all(readers);
    expect(odd).toEqual([]);
    expect(looks).toBeGreaterThan(15);
    expect(await content()).toEqual({ count: 35, low: 15, high: 15 });
  });

  test("an error in the middle of the rows leaves the old version", async () => {
    await db.guard.replaceWhole(target, scope, rows(1, 20, more), 6);
    async function* broken() {
      yield* rows(2, 10, more);
      throw new Error("source went away");
    }
    await expect(db.guard.replaceWhole(target, scope, broken(), 3)).rejects.toThrow("source went away");
    expect(await content()).toEqual({ count: 20, low: 1, high: 1 });
    await db.guard.replaceWhole(target, scope, rows(3, 4, more));
    expect(await content()).toEqual({ count: 4, low: 3, high: 3 });
    const left = await db.pool.query("SELECT relname FROM pg_class WHERE relname ~ $1 AND relkind = 'r'", [
      `^${target.table}.*__v[0-9]+$`,
    ]);
    expect(left.rows).toEqual([]);
  });

  test("a run that began earlier never replaces one that began later", async () => {
    async function* overtaken() {
      yield* rows(8, 3, more);
      await db.guard.replaceWhole(target, scope, rows(9, 5, more));
      yield* rows(8, 3, { ...more, name: "late" }).map((row, i) => ({ ...row, name: `late${i}` }));
    }
    await expect(db.guard.replaceWhole(target, scope, overtaken(), 2)).rejects.toThrow();
    expect(await content()).toEqual({ count: 5, low: 9, high: 9 });
  });

  test("a load of another size than was sent is not switched", async () => {
    await db.guard.replaceWhole(target, scope, rows(1, 2, more));
    const begin = await db.pool.query("SELECT version FROM escapement_guard.replace_begin($1, $2, $3, $4)", [
      target.by,
      target.table,
      JSON.stringify(scope),
      target.by === "version" ? target.versionColumn : null,
    ]);
    const { version } = begin.rows[0];
    await db.pool.query("SELECT escapement_guard.replace_load($1, $2)", [
      version,
      JSON.stringify(rows(7, 3, more)),
    ]);
    await expect(
      db.pool.query("SELECT escapement_guard.replace_switch($1, 4)", [version]),
    ).rejects.toMatchObject({ code: "EG007" });
    expect(await content()).toMatchObject({ count: 2, low: 1 });
    await db.pool.query("SELECT escapement_guard.replace_switch($1, 3)", [version]);
    // Its answer was lost, and it is sent again.
    await db.pool.query("SELECT escapement_guard.replace_switch($1, 3)", [version]);
    expect(await content()).toMatchObject({ count: 3, low: 7 });
  });

  test("an empty version is a version", async () => {
    await db.guard.replaceWhole(target, scope, rows(1, 2, more));
    await db.guard.replaceWhole(target, scope, []);
    expect((await content()).count).toBe(0);
  });

  test("rows of one batch must have the same fields", async () => {
    const uneven = [
      { ...more, name: "a", value: 1 },
      { ...more, name: "b" },
    ];
    await expect(db.guard.replaceWhole(target, scope, uneven)).rejects.toMatchObject({ code: "E_REFUSED" });
  });
});

describe("by version", () => {
  const target: ReplaceBy = { by: "version", table: "daily", versionColumn: "version" };

  test("other scopes are not touched, and 3 and '3' are the same shard", async () => {
    await db.guard.replaceWhole(target, { day: "2026-07-05", shard: 1 }, rows(1, 3));
    await db.guard.replaceWhole(target, { shard: "2", day: "2026-07-05" }, rows(2, 4));
    await db.guard.replaceWhole(target, { day: "2026-07-05", shard: 2 }, rows(5, 6));
    const seen = await db.pool.query(
      "SELECT shard, count(*)::int AS n FROM daily_live WHERE day = '2026-07-05' GROUP BY shard ORDER BY shard",
    );
    expect(seen.rows).toEqual([
      { shard: 1, n: 3 },
      { shard: 2, n: 6 },
    ]);
    const kept = await db.pool.query("SELECT count(*)::int AS n FROM daily WHERE day = '2026-07-05'");
    expect(kept.rows[0].n).toBe(9);
  });

  test("a row that contradicts the scope, a scope that is no column, a column that is no bigint: refused", async () => {
    const scope = { day: "2026-07-06", shard: 1 };
    await expect(
      db.guard.replaceWhole(target, scope, [{ name: "a", value: 1, shard: 2 }]),
    ).rejects.toMatchObject({ code: "E_REFUSED" });
    await expect(db.guard.replaceWhole(target, { nothing: 1 }, rows(1))).rejects.toMatchObject({
      code: "E_REFUSED",
    });
    await expect(
      db.guard.replaceWhole({ ...target, versionColumn: "name" }, scope, rows(1)),
    ).rejects.toMatchObject({ code: "E_REFUSED" });
  });
});

describe("by partition", () => {
  test("a row outside the partition is refused when it is loaded, and the other partitions stay", async () => {
    await db.guard.replaceWhole(
      { by: "partition", table: "monthly" },
      { partition: "monthly_2026_08" },
      rows(4, 2, { month: "2026-08-02" }),
    );
    const wrong = db.guard.replaceWhole(
      { by: "partition", table: "monthly" },
      { partition: "monthly_2026_07" },
      rows(4, 2, { month: "2026-08-02" }),
    );
    await expect(wrong).rejects.toMatchObject({ code: "23514" });
    expect((await db.pool.query("SELECT FROM monthly WHERE month = '2026-08-02'")).rowCount).toBe(2);
  });

  test("the new partition has the old one's name, key and grants", async () => {
    await db.guard.replaceWhole(
      { by: "partition", table: "monthly" },
      { partition: "monthly_2026_07" },
      rows(1, 1, { month: "2026-07-02" }),
    );
    const { rows: facts } = await db.pool.query(
      `SELECT relispartition AS part, has_table_privilege('reporter_${process.pid}', oid, 'SELECT') AS granted,
              (SELECT count(*)::int FROM pg_constraint WHERE conrelid = pg_class.oid AND contype IN ('p', 'c')) AS constraints
         FROM pg_class WHERE relname = 'monthly_2026_07'`,
    );
    expect(facts).toEqual([{ part: true, granted: true, constraints: 1 }]);
  });

  test("a partition that does not exist is refused", async () => {
    const attempt = db.guard.replaceWhole(
      { by: "partition", table: "monthly" },
      { partition: "monthly_2026_09" },
      [],
    );
    await expect(attempt).rejects.toMatchObject({ code: "E_REFUSED" });
  });
});

describe("by table", () => {
  test("keys, defaults, sequence and grants stay", async () => {
    await db.guard.replaceWhole({ by: "table", table: "ranking" }, {}, [{ name: "a" }, { name: "b" }]);
    await db.pool.query("INSERT INTO ranking (name) VALUES ('c')");
    const { rows: seen } = await db.pool.query(
      "SELECT count(DISTINCT id)::int AS ids, sum(value)::int AS sum FROM ranking",
    );
    expect(seen).toEqual([{ ids: 3, sum: 0 }]);
    await expect(db.pool.query("INSERT INTO ranking (name) VALUES ('c')")).rejects.toMatchObject({
      code: "23505",
    });
    const { rows: granted } = await db.pool.query(
      `SELECT has_table_privilege('reporter_${process.pid}', 'ranking', 'SELECT') AS ok`,
    );
    expect(granted).toEqual([{ ok: true }]);
  });

  test.each([
    ["a view", "CREATE VIEW v_x AS SELECT * FROM x"],
    ["a foreign key of another table", "CREATE TABLE y (id int REFERENCES x)"],
    [
      "a trigger",
      "CREATE TRIGGER t_x BEFORE INSERT ON x EXECUTE FUNCTION suppress_redundant_updates_trigger()",
    ],
    ["row security", "ALTER TABLE x ENABLE ROW LEVEL SECURITY"],
    ["grants on columns", `GRANT SELECT (id) ON x TO reporter_${process.pid}`],
  ])("%s would stay with the old table: refused", async (_, sql) => {
    await db.pool.query(
      "DROP TABLE IF EXISTS x CASCADE; DROP TABLE IF EXISTS y; CREATE TABLE x (id int PRIMARY KEY)",
    );
    await db.pool.query(
      sql.replace("BEFORE INSERT", "BEFORE UPDATE").replace("ON x EXECUTE", "ON x FOR EACH ROW EXECUTE"),
    );
    await expect(db.guard.replaceWhole({ by: "table", table: "x" }, {}, [{ id: 1 }])).rejects.toMatchObject({
      code: "E_REFUSED",
    });
    await db.pool.query("INSERT INTO x (id) VALUES (7)");
  });
});

describe("names that need quotes, and long ones in scripts of many bytes", () => {
  const long = "工资汇总表每日结算明细记录归档第二十一号表";
  test.each([
    ["quotes, blanks and capitals", 'Pay "roll"; drop'],
    ["as long as a name may be", long],
  ])("%s", async (_, name) => {
    const quoted = `"${name.replaceAll('"', '""')}"`;
    const child = `${name.slice(0, 19)}p`;
    const quotedChild = `"${child.replaceAll('"', '""')}"`;
    await db.pool.query(`
      CREATE TABLE ${quoted} ("Na""me" text, value int);
      CREATE SCHEMA "Sche""ma";
      CREATE TABLE "Sche""ma".${quoted} (part text, value int) PARTITION BY LIST (part);
      CREATE TABLE "Sche""ma".${quotedChild} PARTITION OF "Sche""ma".${quoted} FOR VALUES IN ('it''s')`);
    const byTable = { by: "table", table: quoted } as const;
    const byPartition = { by: "partition", table: `"Sche""ma".${quoted}` } as const;
    async function* broken() {
      yield { 'Na"me': "half", value: 0 };
      throw new Error("the source went away");
    }
    // What a broken load left behind must not be in the way of the next.
    await expect(db.guard.replaceWhole(byTable, {}, broken(), 1)).rejects.toThrow("the source went away");
    for (const value of [1, 2]) {
      await db.guard.replaceWhole(byTable, {}, [{ 'Na"me': "a", value }]);
      await db.guard.replaceWhole(byPartition, { partition: child }, [{ part: "it's", value }]);
    }
    const read = async (from: string) => (await db.pool.query(`SELECT value FROM ${from}`)).rows;
    expect(await read(quoted)).toEqual([{ value: 2 }]);
    expect(await read(`"Sche""ma".${quoted}`)).toEqual([{ value: 2 }]);
    const { rows: left } = await db.pool.query(
      "SELECT relname FROM pg_class WHERE relname LIKE '%\\_\\_v%' AND relkind = 'r'",
    );
    expect(left).toEqual([]);
    await db.pool.query(`DROP TABLE ${quoted}; DROP SCHEMA "Sche""ma" CASCADE`);
  });
});
