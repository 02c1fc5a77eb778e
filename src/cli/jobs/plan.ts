/** `escapement jobs plan`: what would `apply` change? */
import type { Command } from "commander";
import { ExitCode } from "../../base/exit-code.ts";
import { defineCommand } from "../command.ts";
import { failOnProblems } from "../problems.ts";
import { type StoreOptions, withStore, withStoreOptions } from "../store-url.ts";
import { printJson } from "../terminal.ts";

export function buildPlan(): Command {
  const command = defineCommand("plan", "show what apply would change; changes nothing", {
    examples: ["escapement jobs plan jobs/ --cluster cluster.yaml", "escapement jobs plan jobs/ --exit-code"],
    exitCodes: [
      ExitCode.ok,
      ExitCode.changesPending,
      ExitCode.refused,
      ExitCode.badData,
      ExitCode.unavailable,
    ],
  })
    .argument("<path...>", "files or folders")
    .option(
      "--prune",
      "count jobs that no file names as deleted, but for those of drills (namespaces drill, drills)",
    )
    .option("--exit-code", "exit 2 when there is something to change")
    .option("--json", "print one JSON document");
  return withStoreOptions(command).action(
    async (
      paths: string[],
      options: StoreOptions & { prune?: boolean; exitCode?: boolean; json?: boolean },
    ) => {
      const { readJobFiles } = await import("./job-files.ts");
      const { jobChanges } = await import("./changes.ts");
      const { changesAsJson, printChanges } = await import("./print-changes.ts");
      const { jobs, problems } = await readJobFiles(paths, options.cluster);
      failOnProblems(problems);
      await withStore(options, async (db) => {
        const changes = await jobChanges(db, jobs, { prune: options.prune ?? false });
        if (options.json) printJson({ changes: changesAsJson(changes) });
        else printChanges(changes);
        if (changes.some((change) => change.action === "refuse")) process.exitCode = ExitCode.refused;
        else if (options.exitCode && changes.some((change) => change.action !== "none"))
          process.exitCode = ExitCode.changesPending;
      });
    },
  );
}
