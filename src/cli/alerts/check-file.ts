/** `escapement alerts check`: judges a watch file, and tells nobody. */
import type { Command } from "commander";
import { ExitCode } from "../../base/exit-code.ts";
import { defineCommand } from "../command.ts";
import { failOnProblems } from "../problems.ts";
import { print } from "../terminal.ts";

export function buildCheck(): Command {
  return defineCommand("check", "check a watch file, and tell nobody", {
    examples: ["escapement alerts check watch.yaml"],
    exitCodes: [ExitCode.ok, ExitCode.badData],
    notes: "Needs neither store nor channels. Whether secrets can be read is seen by escapement alerts test.",
  })
    .argument("<file>", "watch file")
    .action(async (file: string) => {
      const { readWatchFile } = await import("../../watchman/watch-file.ts");
      const { watch, problems } = await readWatchFile(file);
      failOnProblems(problems);
      if (watch)
        print(`${file}: right; ${watch.channels.length} channel(s), ${watch.routes.length} route(s)`);
    });
}
