/** `escapement store report-disk`: how much room the store's host has, written into the store for the watchman. */
import type { Command } from "commander";
import { EscapementError, messageOf } from "../../base/errors.ts";
import { ExitCode } from "../../base/exit-code.ts";
import type { DiskReport } from "../../store/store-disk.ts";
import { defineCommand } from "../command.ts";
import { type StoreOptions, withStore, withStoreOptions } from "../store-url.ts";
import { print, printJson } from "../terminal.ts";

interface ReportOptions extends StoreOptions {
  readonly path: readonly string[];
  readonly json?: boolean;
}

export function buildReportDisk(): Command {
  const command = defineCommand("report-disk", "write down how much room the store's host has", {
    examples: [
      "escapement store report-disk --url 'postgres://postgres@/escapement?host=/var/run/postgresql'",
      "escapement store report-disk --path /var/lib/postgresql --cluster cluster.yaml",
    ],
    exitCodes: [ExitCode.ok, ExitCode.badData, ExitCode.unavailable],
    notes:
      "Runs on the store's own host, from a timer, every minute: the watchman judges what it reports, and alerts\nwhen reports end. Without --path it asks the server for its data directory, which needs a superuser or\npg_read_all_settings, and looks at that and at its log. Several paths of one file system are one line.",
  })
    .option("--path <path>", "a folder of the file system; may be given more than once", also, [])
    .option("--json", "print one JSON document");
  return withStoreOptions(command).action(async (options: ReportOptions) => {
    const { hostname } = await import("node:os");
    const { dataDirectory, reportDisks } = await import("../../store/store-disk.ts");
    await withStore(options, async (db) => {
      const paths = options.path.length > 0 ? options.path : foldersOf(await dataDirectory(db));
      const disks = await look(paths);
      await reportDisks(db, hostname(), disks);
      if (options.json) return printJson({ host: hostname(), disks });
      const { formatBytes } = await import("../../base/bytes.ts");
      for (const { path, totalBytes, freeBytes } of disks)
        print(`${path}: ${formatBytes(freeBytes)} of ${formatBytes(totalBytes)} free`);
    });
  });
}

/** @throws E_UNAVAILABLE when the server does not say where it is */
function foldersOf(directory: string | null): string[] {
  if (directory !== null) return [directory, `${directory}/pg_wal`];
  throw new EscapementError("E_UNAVAILABLE", {
    what: "this login may not ask the server where its data are",
    hint: "name the folders with --path, or grant it pg_read_all_settings",
  });
}

/** One line a file system: what shares one has one room. @throws E_FILE_UNREADABLE */
async function look(paths: readonly string[]): Promise<DiskReport[]> {
  const { stat, statfs } = await import("node:fs/promises");
  const disks = new Map<number, DiskReport>();
  for (const path of paths) {
    try {
      const { dev } = await stat(path);
      const { bsize, blocks, bavail } = await statfs(path);
      if (!disks.has(dev)) disks.set(dev, { path, totalBytes: blocks * bsize, freeBytes: bavail * bsize });
    } catch (error) {
      throw new EscapementError(
        "E_FILE_UNREADABLE",
        { file: path, reason: messageOf(error) },
        { cause: error },
      );
    }
  }
  return [...disks.values()];
}

function also(path: string, before: readonly string[]): readonly string[] {
  return [...before, path];
}
