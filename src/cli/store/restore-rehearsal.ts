/**
 * Dumps the record store, restores it into a database of its own, and counts.
 *
 *   snapshot ──▶ dump ──▶ scratch made ──▶ restored ──▶ counted ──▶ scratch dropped
 *                            └──────────── whatever goes wrong ─────────▲
 *
 * Source and dump share one snapshot, so that the rows of both can be compared
 * to the last one while the cluster works on.
 */
import { randomBytes } from "node:crypto";
import { chmodSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { messageOf } from "../../base/errors.ts";
import { monotonicMs } from "../../base/monotonic.ts";
import { countSchema, createScratch, dropScratch, openSnapshot } from "../../store/checklist/rehearsal.ts";
import { Database } from "../../store/database.ts";
import { schemaDrift } from "../../store/schema-drift.ts";
import { findTool, inDatabase, runTool } from "./postgres-tools.ts";

export interface Rehearsal {
  readonly ok: boolean;
  /** Null where all is well. */
  readonly reason: string | null;
  /** Rows of every table: source and copy. */
  readonly tables: Readonly<Record<string, readonly [number, number]>>;
  /** Lines in which the copy's schema differs from the migrations. */
  readonly drift: readonly string[];
  readonly bytes: number | null;
  readonly scratch: string;
  readonly durationMs: number;
}

export interface RehearsalOptions {
  readonly url: string;
  /** A database of the server that takes the copy; its login may make databases. */
  readonly scratchUrl: string;
  readonly signal: AbortSignal;
}

const longestMs = 6 * 3_600_000;

/**
 * @throws E_PROGRAM_MISSING, E_STORE_UNAVAILABLE before anything was made; later failures are the result
 */
export async function rehearseRestore({ url, scratchUrl, signal }: RehearsalOptions): Promise<Rehearsal> {
  const [dump, restore] = [findTool("pg_dump"), findTool("pg_restore")];
  const startedMs = monotonicMs();
  const folder = mkdtempSync(join(tmpdir(), "escapement-rehearsal-"));
  chmodSync(folder, 0o700);
  const file = join(folder, "store.dump");
  const admin = new Database(scratchUrl, {
    maxConnections: 1,
    applicationName: "escapement-rehearsal",
    queryTimeoutMs: longestMs,
  });
  const found = {
    tables: {} as Record<string, readonly [number, number]>,
    drift: [] as string[],
    bytes: null as number | null,
  };
  let scratch = "";
  let reason: string | null = null;
  try {
    const before = await dumpWithCounts(url, dump, file, signal);
    found.bytes = statSync(file).size;
    scratch = await createScratch(admin, randomBytes(4).toString("hex"));
    const copyUrl = inDatabase(scratchUrl, scratch);
    await runTool(
      restore,
      ["--no-owner", "--no-privileges", "--exit-on-error", `--dbname=${scratch}`, file],
      copyUrl,
      signal,
    );
    const after = await look(copyUrl);
    found.drift.push(...after.drift);
    for (const name of new Set([...Object.keys(before), ...Object.keys(after.counted)]))
      found.tables[name] = [before[name] ?? -1, after.counted[name] ?? -1];
    reason = problemOf(found.tables, found.drift);
  } catch (error) {
    reason = messageOf(error);
  } finally {
    // Not left to a signal that comes meanwhile: the copy holds what the store holds.
    if (scratch !== "")
      await dropScratch(admin, scratch).catch((error) => {
        reason = [reason, `the scratch database ${scratch} is still there: ${messageOf(error)}`]
          .filter(Boolean)
          .join("; ");
      });
    await admin.end();
    rmSync(folder, { recursive: true, force: true });
  }
  return {
    ...found,
    ok: reason === null,
    reason,
    scratch,
    durationMs: Math.round(monotonicMs() - startedMs),
  };
}

async function dumpWithCounts(
  url: string,
  dump: string,
  file: string,
  signal: AbortSignal,
): Promise<Record<string, number>> {
  const source = new Database(url, {
    maxConnections: 1,
    applicationName: "escapement-rehearsal",
    queryTimeoutMs: longestMs,
  });
  try {
    return await source.transaction(async (tx) => {
      const snapshot = await openSnapshot(tx);
      await runTool(
        dump,
        ["--schema=escapement", "--format=custom", `--snapshot=${snapshot}`, `--file=${file}`],
        url,
        signal,
      );
      return countSchema(tx);
    });
  } finally {
    await source.end();
  }
}

async function look(url: string): Promise<{ counted: Record<string, number>; drift: string[] }> {
  const copy = new Database(url, {
    maxConnections: 1,
    applicationName: "escapement-rehearsal",
    queryTimeoutMs: longestMs,
  });
  try {
    const drift = await schemaDrift(copy);
    const lines = [
      ...drift.missing.map((line) => `missing ${line}`),
      ...drift.unexpected.map((line) => `unexpected ${line}`),
    ];
    return { counted: await countSchema(copy), drift: lines };
  } finally {
    await copy.end();
  }
}

function problemOf(tables: Rehearsal["tables"], drift: readonly string[]): string | null {
  const different = Object.entries(tables).filter(([, [source, copy]]) => source !== copy);
  const problems = different.map(
    ([name, [source, copy]]) => `${name}: ${source} row(s) in the store, ${copy} in the copy`,
  );
  if (Object.keys(tables).length === 0) problems.push("there was no table to count");
  if (drift.length > 0)
    problems.push(`the copy's schema differs in ${drift.length} line(s), ${drift[0]} the first`);
  return problems.length === 0 ? null : problems.join("; ");
}
