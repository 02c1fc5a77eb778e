/**
 * The examples in other languages do what the TypeScript library does, because the database does it. Each is
 * run where its runtime is installed, and is named as unknown where it is not.
 */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { unavailable } from "../support/tier.ts";
import { type GuardDatabase, guardDatabase } from "./guard-database.ts";
import { type PaymentServer, startPaymentServer } from "./payment-server.ts";

const works = (command: string, ...args: string[]) =>
  spawnSync(command, args, { stdio: "ignore" }).status === 0;

const python = ["python3", "/usr/bin/python3"].flatMap((program) =>
  ["psycopg", "psycopg2"]
    .filter((library) => works(program, "-c", `import ${library}`))
    .map((library) => ({ program, library })),
);
const jdbc = ["/usr/share/java/postgresql.jar", "/usr/share/java/postgresql-jdbc4.jar"].find(existsSync);

interface Language {
  readonly name: string;
  readonly present: boolean;
  command(database: string, payments: string, period: string): string[];
}

const languages: readonly Language[] = [
  ...["psycopg", "psycopg2"].map((library): Language => {
    const found = python.find((one) => one.library === library);
    // Each library alone, so that the other can not stand in for it.
    const blocked = library === "psycopg" ? "psycopg2" : "psycopg";
    const script = `import sys, runpy; sys.modules["${blocked}"] = None; sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name="__main__")`;
    return {
      name: `Python (${library})`,
      present: found !== undefined,
      command: (database, payments, period) => [
        found!.program,
        "-c",
        script,
        "examples/guard-python/pay_bonus.py",
        database,
        payments,
        period,
      ],
    };
  }),
  {
    name: "Java (JDBC)",
    present: jdbc !== undefined && works("javac", "-version"),
    command: (database, payments, period) => {
      const { hostname, port, pathname, username } = new URL(database);
      const url = `jdbc:postgresql://${hostname}:${port}${pathname}?user=${username}`;
      return [
        "java",
        "-XX:TieredStopAtLevel=1",
        "-cp",
        `${jdbc}:${classes()}`,
        "PayBonus",
        url,
        payments,
        period,
      ];
    },
  },
  {
    name: "shell (psql)",
    present: works("psql", "--version") && works("curl", "--version"),
    command: (database, payments, period) => [
      "sh",
      "examples/guard-shell/pay-bonus.sh",
      database,
      payments,
      period,
    ],
  },
];

let folder: string | undefined;
/** Compiled once; to start from the source would compile it at every start. */
function classes(): string {
  if (folder === undefined) {
    folder = mkdtempSync(join(tmpdir(), "escapement-java-"));
    execFileSync("javac", ["-d", folder, "examples/guard-java/PayBonus.java"]);
  }
  return folder;
}

let db: GuardDatabase;
let payments: PaymentServer;
beforeAll(async () => {
  db = await guardDatabase();
  await db.pool.query(`CREATE TABLE bonus_due (batch_id text, user_id text, cents bigint);
    CREATE TABLE reward_records (batch_id text, user_id text, cents bigint)`);
  payments = await startPaymentServer();
});
afterAll(async () => {
  if (folder !== undefined) rmSync(folder, { recursive: true });
  await payments.close();
  await db.close();
});

function start(command: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const child = spawn(command[0]!, command.slice(1), {
    stdio: ["ignore", "inherit", "pipe"],
    // A process group of its own: a shell's curl is killed with it.
    detached: true,
    env: { ...process.env, ...env },
  });
  let stderr = "";
  child.stderr.on("data", (part) => (stderr += String(part)));
  const exit = new Promise<{ code: number | null; stderr: string }>((resolve) =>
    child.on("close", (code) => resolve({ code, stderr })),
  );
  return { child, exit };
}

async function records(period: string): Promise<Record<string, number>> {
  const { rows } = await db.pool.query(
    "SELECT user_id, sum(cents)::int AS cents FROM reward_records WHERE batch_id = $1 GROUP BY user_id",
    [period],
  );
  return Object.fromEntries(rows.map((row) => [row.user_id, row.cents]));
}

let month = 0;

describe.each(languages)("$name", ({ name, present, command }) => {
  const skip = unavailable(name, present);
  const due = { ada: 1_050, "o'brien": 2_999, zoë: 1 };
  const setUp = async () => {
    const period = new Date(Date.UTC(2026, month++, 1)).toISOString().slice(0, 7);
    for (const [user, cents] of Object.entries(due))
      await db.pool.query("INSERT INTO bonus_due VALUES ($1, $2, $3)", [period, user, cents]);
    return { period, run: command(db.url, payments.url, period) };
  };

  test.skipIf(skip)("pays everybody once, however often it is run", async () => {
    const { period, run } = await setUp();
    expect(await start(run).exit).toMatchObject({ code: 0 });
    expect(await start(run).exit).toMatchObject({ code: 0 });
    expect(await records(period)).toEqual(due);
    expect(payments.paid(period)).toEqual({ ada: 1, "o'brien": 1, zoë: 1 });
  });

  test.skipIf(skip)(
    "an answer that got lost is in doubt, and is asked for again with the same key",
    async () => {
      const { period, run } = await setUp();
      payments.loseAnswerOf(period, "o'brien");
      const first = await start(run).exit;
      expect(first).toMatchObject({
        code: 3,
        stderr: expect.stringContaining(`bonus/${period}/o'brien: in-doubt`),
      });
      expect(await records(period)).toEqual({ ada: 1_050, zoë: 1 });
      expect(await start(run).exit).toMatchObject({ code: 0 });
      expect(await records(period)).toEqual(due);
      expect(payments.paid(period)).toEqual({ ada: 1, "o'brien": 1, zoë: 1 });
    },
  );

  test.skipIf(skip)("killed between paying and writing it down: paid once in the end", async () => {
    const { period, run } = await setUp();
    const held = payments.holdAnswerOf(period, "o'brien");
    const first = start(run);
    await held;
    process.kill(-first.child.pid!, "SIGKILL");
    await first.exit;
    await db.pool.query(
      "UPDATE escapement_guard.external_call SET lease_until = clock_timestamp() WHERE state = 'pending'",
    );
    expect(await start(run).exit).toMatchObject({ code: 0 });
    expect(await records(period)).toEqual(due);
    expect(payments.paid(period)).toEqual({ ada: 1, "o'brien": 1, zoë: 1 });
  });

  test.skipIf(skip)("a certain no is not asked again", async () => {
    const { period, run } = await setUp();
    payments.refuse(period, "ada");
    expect(await start(run).exit).toMatchObject({ code: 3, stderr: expect.stringContaining("ada: refused") });
    expect(await start(run).exit).toMatchObject({ code: 3 });
    expect(payments.paid(period)).toEqual({ "o'brien": 1, zoë: 1 });
    expect(await records(period)).toEqual({ "o'brien": 2_999, zoë: 1 });
  });

  test.skipIf(skip)("a holder that has been overtaken writes nothing", async () => {
    const { period, run } = await setUp();
    const fence = `SELECT escapement_guard.enter(); SELECT escapement_guard.fence('bonus/${period}/0', 10)`;
    await db.transaction((tx) => tx.query(fence));
    const env = { ESCAPEMENT_JOB: "bonus", ESCAPEMENT_PERIOD: period, ESCAPEMENT_SHARD_NO: "0" };
    const stale = await start(run, { ...env, ESCAPEMENT_FENCE_TOKEN: "9" }).exit;
    expect(stale.code).not.toBe(0);
    expect(stale.stderr).toMatch(/stale token 9/);
    expect(await records(period)).toEqual({});
    expect(await start(run, { ...env, ESCAPEMENT_FENCE_TOKEN: "10" }).exit).toMatchObject({ code: 0 });
    expect(await records(period)).toEqual(due);
  });
});
