/** `escapement store migrate`: brings the schema to what this program knows. */
import type { Command } from "commander";
import { ExitCode } from "../../base/exit-code.ts";
import { defineCommand } from "../command.ts";
import { type StoreOptions, storeUrl, withStoreOptions } from "../store-url.ts";
import { print, printJson } from "../terminal.ts";

export function buildMigrate(): Command {
  const command = defineCommand("migrate", "create or upgrade the schema; again: nothing changes", {
    examples: ["escapement store migrate --url postgres://owner@db.example/records"],
    exitCodes: [ExitCode.ok, ExitCode.failed, ExitCode.refused, ExitCode.unavailable],
    notes:
      "Needs the owner of the database (roles are made, too). Each migration is one transaction: one that is\ninterrupted leaves nothing behind, run it again.",
  }).option("--json", "print one JSON document");
  return withStoreOptions(command).action(async (options: StoreOptions & { json?: boolean }) => {
    const { Database } = await import("../../store/database.ts");
    const { migrate } = await import("../../store/migrate.ts");
    const db = new Database(await storeUrl(options), { maxConnections: 1, queryTimeoutMs: 600_000 });
    try {
      const { applied, version } = await migrate(db);
      if (options.json) return printJson({ version, applied });
      for (const one of applied)
        print(`applied ${String(one.number).padStart(6, "0")} ${one.name} (${one.kind})`);
      print(`schema version ${version}${applied.length === 0 ? ", nothing to do" : ""}`);
    } finally {
      await db.end();
    }
  });
}
