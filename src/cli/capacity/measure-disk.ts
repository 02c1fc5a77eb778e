/** Measures a disk here and now: flushes with pg_test_fsync, writes with fio, and its cache from the kernel. */
import { type ExecFileException, execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { EscapementError, messageOf } from "../../base/errors.ts";
import { parseFio, parsePgTestFsync } from "../../capacity/acceptance/disk-output.ts";

export interface DiskMeasurement {
  readonly flushesPerSecond?: number;
  readonly writeIops?: number;
  readonly readIops?: number;
  /** What the kernel says about the drive's cache; undefined: it does not say. */
  readonly hasVolatileCache?: boolean;
  readonly isTurning?: boolean;
  readonly device?: string;
  readonly notes: readonly string[];
}

/**
 * @param option that named the folder, for messages. @param seconds of each test of pg_test_fsync and of fio
 * @throws E_BAD_VALUE when the folder is none, or none that can be written to
 */
export async function measureDisk(folder: string, option: string, seconds = 1): Promise<DiskMeasurement> {
  const bad = (expected: string) =>
    new EscapementError("E_BAD_VALUE", {
      option,
      value: folder,
      expected,
      hint: "name the folder that the database or the scratch space will live in",
    });
  if (!existsSync(folder) || !statSync(folder).isDirectory()) throw bad("a folder on this machine");
  const notes: string[] = [];
  let scratch: string;
  try {
    scratch = await mkdtemp(join(folder, ".escapement-measure-"));
  } catch (error) {
    throw bad(`a folder that can be written to (${messageOf(error)})`);
  }
  try {
    const flushesPerSecond = await measureFlushes(scratch, seconds, notes);
    const writes = await measureWrites(scratch, seconds, notes);
    return {
      ...(flushesPerSecond !== undefined && { flushesPerSecond }),
      ...writes,
      ...kernelView(folder),
      notes,
    };
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

async function measureFlushes(folder: string, seconds: number, notes: string[]): Promise<number | undefined> {
  const program = pgTestFsync();
  if (!program) {
    notes.push("pg_test_fsync is not installed: flushes were not measured");
    return undefined;
  }
  const { output, error } = await run(program, ["-f", join(folder, "fsync"), "-s", String(seconds)], 120_000);
  const rate = parsePgTestFsync(output);
  if (rate === undefined) notes.push(`pg_test_fsync told no rate${error ? `: ${error}` : ""}`);
  return rate;
}

async function measureWrites(
  folder: string,
  seconds: number,
  notes: string[],
): Promise<{ writeIops?: number; readIops?: number }> {
  const job = (rw: string) => [
    "--name=escapement",
    `--directory=${folder}`,
    `--rw=${rw}`,
    "--bs=8k",
    "--size=64m",
    "--direct=1",
    "--ioengine=psync",
    "--numjobs=4",
    "--group_reporting",
    "--time_based",
    `--runtime=${seconds}`,
    "--output-format=json",
  ];
  const write = await run("fio", job("randwrite"), 60_000);
  if (write.missing) {
    notes.push("fio is not installed: writes were not measured");
    return {};
  }
  const writeIops = parseFio(write.output, "write");
  if (writeIops === undefined) {
    notes.push(`fio told no rate${write.error ? `: ${write.error}` : ""}`);
    return {};
  }
  const readIops = parseFio((await run("fio", job("randread"), 60_000)).output, "read");
  return { writeIops, ...(readIops !== undefined && { readIops }) };
}

/** What `/sys/block` says of the device that holds a folder. */
export function kernelView(folder: string): {
  device?: string;
  hasVolatileCache?: boolean;
  isTurning?: boolean;
} {
  try {
    const { dev } = statSync(folder);
    // The kernel numbers devices as major and minor.
    const major = (dev >> 8) & 0xfff;
    const minor = (dev & 0xff) | ((dev >> 12) & 0xfff00);
    const link = realpathSync(`/sys/dev/block/${major}:${minor}`);
    const disk = existsSync(join(link, "queue")) ? link : join(link, "..");
    const read = (name: string) => readFileSync(join(disk, "queue", name), "utf8").trim();
    const device = basename(disk);
    return {
      device,
      hasVolatileCache: read("write_cache") === "write back",
      // A virtual disk calls itself turning by default, whatever lies below it.
      ...(!/^x?vd/.test(device) && { isTurning: read("rotational") === "1" }),
    };
  } catch {
    return {};
  }
}

function pgTestFsync(): string | undefined {
  const roots = ["/usr/lib/postgresql", "/usr/pgsql-16", "/usr/pgsql-15"];
  for (const root of roots) {
    if (existsSync(join(root, "bin/pg_test_fsync"))) return join(root, "bin/pg_test_fsync");
    if (!existsSync(root)) continue;
    const versions = readdirSync(root).sort((a, b) => Number(b) - Number(a));
    const found = versions.map((version) => join(root, version, "bin/pg_test_fsync")).find(existsSync);
    if (found) return found;
  }
  return undefined;
}

function run(
  program: string,
  args: readonly string[],
  timeoutMs: number,
): Promise<{ output: string; error: string; missing: boolean }> {
  return new Promise((resolve) => {
    execFile(
      program,
      args,
      { timeout: timeoutMs, maxBuffer: 16 << 20, env: { ...process.env, LC_ALL: "C" } },
      (failure: ExecFileException | null, stdout, stderr) => {
        resolve({
          output: stdout,
          error: failure ? (stderr.trim() || failure.message).split("\n")[0]! : "",
          missing: failure?.code === "ENOENT",
        });
      },
    );
  });
}
