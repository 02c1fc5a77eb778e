/**
 * Moves old job logs of this host into an archive.
 *
 *   rotated, old enough ──▶ compressed beside ──▶ stored and checked ──▶ removed here
 *
 * A kill anywhere leaves the log on the host, in the archive, or in both under
 * one name. Files that are written to are never touched: only rotated ones go.
 */
import { createHash, randomUUID } from "node:crypto";
import { type createReadStream, createWriteStream } from "node:fs";
import { mkdtemp, open, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative } from "node:path";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { isEscapementError, messageOf } from "../../base/errors.ts";
import type { LogArchive } from "./archive.ts";
import { sha256Of } from "./folder-archive.ts";
import { logKey } from "./log-key.ts";

export interface ShipRequest {
  /** The log folder of the cluster file. */
  readonly folder: string;
  /** The name under which this host's logs are kept. */
  readonly host: string;
  readonly archive: LogArchive;
  /** Files last written before this go. */
  readonly before: Date;
  readonly dryRun?: boolean;
  /** Told after every file. */
  readonly onFile?: (file: ShippedFile) => void;
}

export interface ShippedFile {
  readonly file: string;
  readonly sizeBytes: number;
  /** `would-ship`: a dry run. `failed`: it stays here. */
  readonly outcome: "shipped" | "would-ship" | "failed";
  /** Its name in the archive. */
  readonly key?: string;
  readonly reason?: string;
}

const rotated = /^(.+)\.log\.\d+$/;
/** After this many failures in a row the archive is taken to be away. */
const giveUpAfter = 3;

/** @returns one entry a file that was old enough; a failure is a result */
export async function shipLogs(request: ShipRequest): Promise<ShippedFile[]> {
  const results: ShippedFile[] = [];
  const work = await mkdtemp(join(tmpdir(), "escapement-logs-"));
  let failures = 0;
  try {
    for (const file of await oldFiles(request.folder, request.before)) {
      const result = await shipOne(request, file, work);
      results.push(result);
      request.onFile?.(result);
      failures = result.outcome === "failed" ? failures + 1 : 0;
      if (failures >= giveUpAfter) break;
    }
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  return results;
}

async function oldFiles(folder: string, before: Date): Promise<string[]> {
  const found: { file: string; at: number }[] = [];
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile() || !rotated.test(entry.name)) continue;
    const file = join(entry.parentPath, entry.name);
    // Rotation may have renamed it since: then the next run finds it.
    const facts = await stat(file).catch(() => undefined);
    if (facts && facts.mtime < before) found.push({ file, at: facts.mtimeMs });
  }
  return found.sort((a, b) => a.at - b.at).map(({ file }) => file);
}

async function shipOne(request: ShipRequest, file: string, work: string): Promise<ShippedFile> {
  const { folder, host, archive, dryRun } = request;
  const packed = join(work, randomUUID());
  let sizeBytes = 0;
  try {
    const handle = await open(file, "r");
    const facts = await handle.stat();
    sizeBytes = facts.size;
    const { sha256, head } = await pack(handle.createReadStream(), packed);
    const job = rotated.exec(basename(file))![1]!;
    const key = logKey(host, relative(folder, dirname(file)), job, firstInstant(head) ?? facts.mtime, sha256);
    if (dryRun) return { file, sizeBytes, key, outcome: "would-ship" };
    await archive.store({
      key,
      file: packed,
      sizeBytes: (await stat(packed)).size,
      sha256: await sha256Of(packed),
    });
    // Rotation renames: what stands at this path now may be another file.
    const now = await stat(file).catch(() => undefined);
    if (now && now.ino === facts.ino && now.size === facts.size && now.mtimeMs === facts.mtimeMs)
      await rm(file);
    return { file, sizeBytes, key, outcome: "shipped" };
  } catch (error) {
    const reason = isEscapementError(error) ? error.message : messageOf(error);
    return { file, sizeBytes, outcome: "failed", reason };
  } finally {
    await rm(packed, { force: true });
  }
}

/** Compresses a stream into a file; the digest is of what went in. */
async function pack(
  from: ReturnType<typeof createReadStream>,
  to: string,
): Promise<{ sha256: string; head: string }> {
  const hash = createHash("sha256");
  let head = "";
  const look = new Transform({
    transform(chunk: Buffer, _, done) {
      hash.update(chunk);
      if (head === "") head = chunk.subarray(0, 64).toString("latin1");
      done(null, chunk);
    },
  });
  await pipeline(from, look, createGzip(), createWriteStream(to, { mode: 0o600 }));
  return { sha256: hash.digest("hex"), head };
}

/** Every line begins with the time it was written. */
function firstInstant(head: string): Date | undefined {
  const match = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/.exec(head);
  const instant = match ? new Date(match[0]) : undefined;
  return instant && !Number.isNaN(instant.getTime()) ? instant : undefined;
}
