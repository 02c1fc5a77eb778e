/** `escapement undrain`: a drained executor gets work again. */
import type { Command } from "commander";
import { ExitCode } from "../base/exit-code.ts";
import { defineCommand } from "./command.ts";
import { type DeedOptions, deedOf, withDeedOptions } from "./person.ts";
import { type StoreOptions, withStore, withStoreOptions } from "./store-url.ts";
import { print, printJson } from "./terminal.ts";

export function build(): Command {
  const command = defineCommand("undrain", "give a drained executor work again", {
    examples: ["escapement undrain exec-1 --reason 'disk is in'"],
    exitCodes: [ExitCode.ok, ExitCode.unavailable],
  })
    .argument("<node>", "the executor's name in the cluster file")
    .option("--json", "print one JSON document");
  return withDeedOptions(withStoreOptions(command)).action(
    async (node: string, options: StoreOptions & DeedOptions & { json?: boolean }) => {
      const { undrainNode } = await import("../store/drain.ts");
      await withStore(options, async (db) => {
        const changed = await undrainNode(db, node, deedOf(options));
        if (options.json) printJson({ node, changed });
        else print(`${node}: ${changed ? "gets work again" : "was not drained"}`);
      });
    },
  );
}
