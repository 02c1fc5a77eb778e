/** `escapement store record-backup`: the last line of whatever makes the backup. */
import type { Command } from "commander";
import { ExitCode } from "../../base/exit-code.ts";
import { defineCommand } from "../command.ts";
import { countOption } from "../parse-option.ts";
import { personOf } from "../person.ts";
import { type StoreOptions, withStore, withStoreOptions } from "../store-url.ts";
import { print, printJson } from "../terminal.ts";

interface RecordOptions extends StoreOptions {
  readonly what: string;
  readonly bytes?: number;
  readonly failed?: string;
  readonly by?: string;
  readonly json?: boolean;
}

export function buildRecordBackup(): Command {
  const command = defineCommand("record-backup", "write down that a backup was made, or that it failed", {
    examples: [
      "escapement store record-backup --what 'base backup to vault.example' --bytes 1200000000",
      "escapement store record-backup --what 'base backup to vault.example' --failed 'no space left'",
    ],
    exitCodes: [ExitCode.ok, ExitCode.unavailable],
    notes:
      "A backup counts for the checklist for a day. Whether it can be restored is shown by rehearse-restore alone.",
  })
    .requiredOption("--what <text>", "what was backed up, and where to")
    .option("--bytes <n>", "its size", countOption(0, Number.MAX_SAFE_INTEGER))
    .option("--failed <reason>", "it went wrong")
    .option("--by <person>", "who; default: your login, or SUDO_USER")
    .option("--json", "print one JSON document");
  return withStoreOptions(command).action(async (options: RecordOptions) => {
    const { hostname } = await import("node:os");
    const { recordBackup } = await import("../../store/backup-record.ts");
    const record = {
      kind: "backup" as const,
      person: personOf(options),
      host: hostname(),
      what: options.what,
      bytes: options.bytes ?? null,
      checked: null,
      ok: options.failed === undefined,
      reason: options.failed ?? null,
    };
    await withStore(options, (db) => recordBackup(db, record));
    if (options.json) return printJson(record);
    print(record.ok ? "backup written down" : `failed backup written down: ${record.reason}`);
  });
}
