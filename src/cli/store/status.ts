/** `escapement store status`: version, drift, partitions. */
import type { Command } from "commander";
import { formatBytes } from "../../base/bytes.ts";
import { ExitCode } from "../../base/exit-code.ts";
import { formatInstant } from "../../base/instant.ts";
import { defineCommand } from "../command.ts";
import { type StoreOptions, storeUrl, withStoreOptions } from "../store-url.ts";
import { paint, print, printJson, table } from "../terminal.ts";

export function buildStatus(): Command {
  const command = defineCommand(
    "status",
    "show the schema's version, drift from the migrations, and partitions",
    {
      examples: ["escapement store status --cluster cluster.yaml", "escapement store status --json"],
      exitCodes: [ExitCode.ok, ExitCode.failed, ExitCode.refused, ExitCode.unavailable],
      notes: "Exit 1 when the schema differs from what the migrations made.",
    },
  ).option("--json", "print one JSON document");
  return withStoreOptions(command).action(async (options: StoreOptions & { json?: boolean }) => {
    const { Database } = await import("../../store/database.ts");
    const { appliedMigrations, checkSchema } = await import("../../store/migrate.ts");
    const { schemaDrift } = await import("../../store/schema-drift.ts");
    const { listPartitions } = await import("../../store/retention.ts");
    const { readCluster } = await import("../../store/cluster.ts");
    const db = new Database(await storeUrl(options), { maxConnections: 1 });
    try {
      await checkSchema(db);
      const cluster = await readCluster(db);
      const migrations = await appliedMigrations(db);
      const drift = await schemaDrift(db);
      const partitions = await listPartitions(db);
      const drifted = drift.missing.length + drift.unexpected.length > 0;
      if (drifted) process.exitCode = ExitCode.failed;
      if (options.json) return printJson({ cluster, migrations, drift, partitions });
      print(
        `cluster ${cluster.clusterId}, store generation ${cluster.generation}, time-zone data ${cluster.timeZoneData ?? "not set yet"}`,
      );
      print(
        `schema version ${migrations.length}; records kept ${cluster.retentionMonths} months; oldest retained: ${oldest(cluster.lowWater)}`,
      );
      print(
        drifted
          ? paint.red("schema has drifted from the migrations:")
          : paint.green("schema is as the migrations made it"),
      );
      for (const line of drift.missing) print(`  missing     ${line}`);
      for (const line of drift.unexpected) print(`  unexpected  ${line}`);
      print(
        table(
          ["month", "table", "size"],
          partitions.map((one) => [one.month, one.table, formatBytes(one.bytes)]),
        ),
      );
    } finally {
      await db.end();
    }
  });
}

/** Before the first prune nothing has been forgotten. */
function oldest(lowWater: Date): string {
  return lowWater.getTime() < -8e15 ? "everything" : formatInstant(lowWater);
}
