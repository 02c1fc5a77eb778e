/** `escapement store rehearse-restore`: is what a dump holds really enough to go on with? */
import type { Command } from "commander";
import { formatBytes } from "../../base/bytes.ts";
import { formatDuration } from "../../base/duration.ts";
import { EscapementError } from "../../base/errors.ts";
import { ExitCode } from "../../base/exit-code.ts";
import { defineCommand } from "../command.ts";
import { personOf } from "../person.ts";
import { type StoreOptions, storeUrl, withStoreOptions } from "../store-url.ts";
import { paint, print, printJson } from "../terminal.ts";

interface RehearseOptions extends StoreOptions {
  readonly scratchUrl?: string;
  readonly by?: string;
  readonly json?: boolean;
}

export function buildRehearseRestore(): Command {
  const command = defineCommand(
    "rehearse-restore",
    "dump the store, restore it into a scratch database, count, drop it",
    {
      examples: [
        "escapement store rehearse-restore --cluster cluster.yaml",
        "escapement store rehearse-restore --scratch-url postgres://postgres@spare.example/postgres",
      ],
      exitCodes: [ExitCode.ok, ExitCode.failed, ExitCode.unavailable],
      notes:
        "Needs pg_dump and pg_restore, a login that reads the whole schema, and one that may make a database on the\nserver that takes the copy. Rows of every table are compared within one snapshot, and the schema with the\nmigrations. The scratch database is dropped whatever happens; the result is written down for the checklist.",
    },
  )
    .option(
      "--scratch-url <url>",
      "a database of the server that takes the copy (default: the store's own server)",
    )
    .option("--by <person>", "who; default: your login, or SUDO_USER")
    .option("--json", "print one JSON document");
  return withStoreOptions(command).action(async (options: RehearseOptions) => {
    const { hostname } = await import("node:os");
    const { Database } = await import("../../store/database.ts");
    const { checkSchema } = await import("../../store/migrate.ts");
    const { recordBackup } = await import("../../store/backup-record.ts");
    const { readUrl } = await import("./postgres-tools.ts");
    const { rehearseRestore } = await import("./restore-rehearsal.ts");
    const url = await storeUrl(options);
    const db = new Database(url, { maxConnections: 1, applicationName: "escapement-cli" });
    const stop = new AbortController();
    let signalled: NodeJS.Signals | undefined;
    for (const signal of ["SIGTERM", "SIGINT"] as const) {
      process.once(signal, () => {
        signalled = signal;
        stop.abort();
      });
    }
    try {
      await checkSchema(db);
      const found = await rehearseRestore({
        url,
        scratchUrl: options.scratchUrl ?? url,
        signal: stop.signal,
      });
      if (signalled) throw new EscapementError("E_INTERRUPTED", { signal: signalled });
      await recordBackup(db, {
        kind: "restore",
        person: personOf(options),
        host: hostname(),
        what: `schema escapement into ${options.scratchUrl ? readUrl(options.scratchUrl).host : "a scratch database of the same server"}`,
        bytes: found.bytes,
        checked: Object.keys(found.tables).length > 0 ? { tables: found.tables } : null,
        ok: found.ok,
        reason: found.reason,
      });
      if (!found.ok) process.exitCode = ExitCode.failed;
      if (options.json) return printJson({ ...found });
      const tables = Object.values(found.tables);
      const rows = tables.reduce((sum, [, copy]) => sum + Math.max(0, copy), 0);
      print(
        found.ok
          ? paint.green(
              `restored: ${tables.length} tables with ${rows} row(s), ${formatBytes(found.bytes ?? 0)}, in ${formatDuration(found.durationMs)}`,
            )
          : paint.red(`not restored: ${found.reason}`),
      );
    } finally {
      await db.end();
    }
  });
}
