/** `escapement alerts ack`: somebody has seen it, so nobody else is woken. */
import type { Command } from "commander";
import { EscapementError } from "../../base/errors.ts";
import { ExitCode } from "../../base/exit-code.ts";
import { defineCommand } from "../command.ts";
import { type DeedOptions, deedOf, withDeedOptions } from "../person.ts";
import { type StoreOptions, withStore, withStoreOptions } from "../store-url.ts";
import { print, printJson } from "../terminal.ts";

export function buildAck(): Command {
  const command = defineCommand("ack", "say that you have seen an alert: it is not escalated", {
    examples: ["escapement alerts ack cause:no-leader --reason 'restarting it'"],
    exitCodes: [ExitCode.ok, ExitCode.partial, ExitCode.refused, ExitCode.unavailable],
    notes:
      "Exit 4 when no open alert has such a key, 3 when some have. It ends with the trouble: if that comes back, it is new.",
  })
    .argument("<key...>", "keys, as escapement alerts list shows them")
    .option("--json", "print one JSON document");
  return withDeedOptions(withStoreOptions(command)).action(
    async (keys: string[], options: StoreOptions & DeedOptions & { json?: boolean }) => {
      const { acknowledge } = await import("../../store/watch/alert-book.ts");
      const { recordOperation } = await import("../../store/operation.ts");
      const deed = deedOf(options);
      await withStore(options, async (db) => {
        const done: { key: string; acknowledged: boolean }[] = [];
        for (const key of keys)
          done.push({
            key,
            acknowledged: await db.transaction(async (tx) => {
              const found = await acknowledge(tx, key, deed.person);
              if (found) await recordOperation(tx, { ...deed, action: "acknowledge-alert", after: { key } });
              return found;
            }),
          });
        if (options.json) printJson({ alerts: done });
        else
          for (const { key, acknowledged } of done)
            print(`${key}: ${acknowledged ? "acknowledged" : "no open alert has this key"}`);
        const missing = done.filter((one) => !one.acknowledged).length;
        if (missing === 0) return;
        if (missing < done.length) process.exitCode = ExitCode.partial;
        else
          throw new EscapementError("E_REFUSED", {
            what: "no open alert has such a key",
            hint: "escapement alerts list shows the keys",
          });
      });
    },
  );
}
