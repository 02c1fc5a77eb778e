/** `escapement store`: sets up, checks and prunes the record store. */
import type { Command } from "commander";
import { ExitCode } from "../base/exit-code.ts";
import { defineCommand } from "./command.ts";
import { buildGrant } from "./store/grant.ts";
import { buildMigrate } from "./store/migrate.ts";
import { buildPrune } from "./store/prune.ts";
import { buildRecordBackup } from "./store/record-backup.ts";
import { buildRehearseRestore } from "./store/rehearse-restore.ts";
import { buildReportDisk } from "./store/report-disk.ts";
import { buildStatus } from "./store/status.ts";

export function build(): Command {
  const command = defineCommand("store", "set up, check and prune the record store", {
    examples: [
      "escapement store migrate --cluster cluster.yaml",
      "escapement store status --cluster cluster.yaml",
    ],
    exitCodes: [ExitCode.ok, ExitCode.failed, ExitCode.refused, ExitCode.unavailable],
  });
  for (const buildSubcommand of [
    buildMigrate,
    buildStatus,
    buildPrune,
    buildGrant,
    buildReportDisk,
    buildRecordBackup,
    buildRehearseRestore,
  ])
    command.addCommand(buildSubcommand());
  return command;
}
