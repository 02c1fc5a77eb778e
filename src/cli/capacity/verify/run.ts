/** Runs the comparison: shapes, forecast to a file, loads, measurements. */
import { randomBytes } from "node:crypto";
import { mkdtemp } from "node:fs/promises";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { EscapementError, messageOf } from "../../../base/errors.ts";
import { monotonicMs } from "../../../base/monotonic.ts";
import { forecastRecords, type RecordForecast } from "../../../capacity/storage/record-forecast.ts";
import type { RecordPattern } from "../../../capacity/storage/record-pattern.ts";
import { verifyPatterns } from "../../../capacity/storage/verify-patterns.ts";
import { startPostgres } from "../../../lab/postgres.ts";
import { Database, sqlState } from "../../../store/database.ts";
import { migrate } from "../../../store/migrate.ts";
import { saveFile } from "../save-file.ts";
import { measureCommits } from "./measure-commits.ts";
import { measureRecords } from "./measure-records.ts";
import { readShapes } from "./read-shapes.ts";
import type { VerifyLoad, VerifyReport } from "./report.ts";

export interface VerifySettings {
  readonly url: string | undefined;
  readonly seed: number;
  readonly scale: number;
  readonly only: string | undefined;
  readonly forecastFile: string | undefined;
  readonly commits: boolean;
  say(line: string): void;
}

/** How far the forecast may be off. */
const limits = { heap: 0.03, index: 0.03, wal: 0.15 } as const;
/** Below, a load has no round left. */
const leastScale = 0.1;
/** A name of its own: nothing that was there before is dropped, and two runs do not meet. */
const databaseName = `escapement_verify_${randomBytes(6).toString("hex")}`;

/** The load decides when to vacuum and when to take a checkpoint; nothing else may write. */
const settings = {
  autovacuum: "off",
  checkpoint_timeout: "1h",
  max_wal_size: "20GB",
  shared_buffers: "256MB",
  synchronous_commit: "off",
  jit: "off",
} as const;

/** @throws E_BAD_VALUE, E_STORE_UNAVAILABLE, E_PROGRAM_MISSING */
export async function verifyStorage(wanted: VerifySettings): Promise<VerifyReport> {
  if (!(wanted.scale >= leastScale && wanted.scale <= 1_000)) {
    throw new EscapementError("E_BAD_VALUE", {
      option: "--scale",
      value: wanted.scale,
      expected: `from ${leastScale} to 1000`,
      hint: "1 loads about a million rows",
    });
  }
  const patterns = verifyPatterns(wanted.seed, wanted.scale).filter(({ name }) =>
    name.includes(wanted.only ?? ""),
  );
  if (patterns.length === 0) {
    const names = verifyPatterns(wanted.seed, 1).map(({ name }) => name);
    throw new EscapementError("E_BAD_VALUE", {
      option: "--only",
      value: wanted.only ?? "",
      expected: "part of a load's name",
      hint: `the loads are ${names.join(", ")}`,
    });
  }
  wanted.say(`seed ${wanted.seed}`);
  if (wanted.url !== undefined) return withServer(wanted.url, patterns, wanted);
  const server = await startPostgres({ settings });
  try {
    return await withServer(server.url, patterns, wanted);
  } finally {
    await server.remove();
  }
}

async function withServer(
  url: string,
  patterns: readonly RecordPattern[],
  wanted: VerifySettings,
): Promise<VerifyReport> {
  const admin = new Database(url, { maxConnections: 1, applicationName: "escapement-verify" });
  const release = dropOnSignal(admin);
  try {
    const { rows } = await admin.query<{ version: string }>(
      "SELECT current_setting('server_version') AS version",
    );
    const forecasts = await forecastAll(admin, url, patterns);
    const forecastFile = await writeForecast(wanted, forecasts);
    wanted.say(`forecast of ${patterns.length} loads written to ${forecastFile}`);
    const loads: VerifyLoad[] = [];
    for (const [i, pattern] of patterns.entries()) {
      loads.push(
        await inFreshDatabase(admin, url, (fresh) => loadOne(fresh, pattern, forecasts[i]!, wanted)),
      );
    }
    const commits = wanted.commits ? await inFreshDatabase(admin, url, measureCommits) : [];
    return {
      server: rows[0]!.version,
      seed: wanted.seed,
      scale: wanted.scale,
      forecastFile,
      rows: loads.reduce((sum, load) => sum + load.rows, 0),
      limits,
      loads,
      commits,
      passed: loads.every(({ error }) =>
        (["heap", "index", "wal"] as const).every((what) => Math.abs(error[what]) <= limits[what]),
      ),
    };
  } finally {
    release();
    await admin.end();
  }
}

/** A run that is interrupted leaves no database behind on a server that is not ours. Returns the way to stop watching. */
function dropOnSignal(admin: Database): () => void {
  const watchers = (["SIGINT", "SIGTERM", "SIGHUP"] as const).map((signal) => {
    const onSignal = () => {
      admin
        .query(`DROP DATABASE IF EXISTS ${databaseName} WITH (FORCE)`)
        .catch(() => {})
        .finally(() => process.exit(128 + constants.signals[signal]));
    };
    process.once(signal, onSignal);
    return () => process.off(signal, onSignal);
  });
  return () => {
    for (const stop of watchers) stop();
  };
}

/** From the schema as PostgreSQL has it, before a row is loaded. */
function forecastAll(
  admin: Database,
  url: string,
  patterns: readonly RecordPattern[],
): Promise<RecordForecast[]> {
  return inFreshDatabase(admin, url, async (fresh) => {
    const db = new Database(fresh, { maxConnections: 1 });
    try {
      await migrate(db);
      const shapes = await readShapes(db);
      return patterns.map((pattern) => forecastRecords(pattern, shapes));
    } finally {
      await db.end();
    }
  });
}

async function writeForecast(wanted: VerifySettings, forecasts: readonly RecordForecast[]): Promise<string> {
  const file =
    wanted.forecastFile ?? join(await mkdtemp(join(tmpdir(), "escapement-forecast-")), "forecast.json");
  const patterns = verifyPatterns(wanted.seed, wanted.scale).filter(({ name }) =>
    name.includes(wanted.only ?? ""),
  );
  const loads = patterns.map((pattern, i) => ({ pattern, forecast: forecasts[i] }));
  await saveFile(
    file,
    `${JSON.stringify({ writtenAt: new Date().toISOString(), seed: wanted.seed, scale: wanted.scale, loads }, null, 2)}\n`,
  );
  return file;
}

async function loadOne(
  url: string,
  pattern: RecordPattern,
  forecast: RecordForecast,
  { say }: VerifySettings,
): Promise<VerifyLoad> {
  const every = 5_000;
  let nextMs = monotonicMs() + every;
  const measured = await measureRecords(url, pattern, (done) => {
    if (monotonicMs() < nextMs) return;
    nextMs = monotonicMs() + every;
    say(`${pattern.name}: ${Math.round((done / forecast.shards) * 100)} %`);
  });
  say(`${pattern.name}: ${measured.rows.toLocaleString("en-US")} rows in ${measured.seconds.toFixed(1)} s`);
  const perShard = (bytes: number) => bytes / forecast.shards;
  const expected = {
    heap: perShard(forecast.heapBytes),
    index: perShard(forecast.indexBytes),
    wal: perShard(forecast.walBytes),
  };
  const found = {
    heap: perShard(measured.heapBytes),
    index: perShard(measured.indexBytes),
    wal: perShard(measured.walBytes),
  };
  return {
    name: pattern.name,
    pattern: { ...pattern },
    rows: measured.rows,
    shards: forecast.shards,
    seconds: measured.seconds,
    forecast: expected,
    measured: found,
    error: {
      heap: expected.heap / found.heap - 1,
      index: expected.index / found.index - 1,
      wal: expected.wal / found.wal - 1,
    },
  };
}

async function inFreshDatabase<T>(
  admin: Database,
  url: string,
  work: (fresh: string) => Promise<T>,
): Promise<T> {
  try {
    await admin.query(`CREATE DATABASE ${databaseName} TEMPLATE template0`);
  } catch (error) {
    if (sqlState(error) === undefined) throw error;
    const hint = "name a user that may create databases, or leave --url out";
    throw new EscapementError(
      "E_UNAVAILABLE",
      { what: `no database can be made there: ${messageOf(error)}`, hint },
      { cause: error },
    );
  }
  // On a server that is not ours, these keep what we can out of the measurement.
  await admin.query(`ALTER DATABASE ${databaseName} SET synchronous_commit = off`);
  await admin.query(`ALTER DATABASE ${databaseName} SET jit = off`);
  const fresh = new URL(url);
  fresh.pathname = `/${databaseName}`;
  try {
    return await work(fresh.href);
  } finally {
    await admin.query(`DROP DATABASE IF EXISTS ${databaseName} WITH (FORCE)`);
  }
}
