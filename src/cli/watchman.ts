/** `escapement watchman`: asks the record store what should be done by now, and tells when it is not. */
import type { Command } from "commander";
import { ExitCode } from "../base/exit-code.ts";
import { defineCommand } from "./command.ts";

export interface WatchmanOptions {
  readonly cluster: string;
  readonly watch?: string;
  readonly node?: string;
  readonly http?: string;
  readonly once?: boolean;
  readonly json?: boolean;
}

export function build(): Command {
  return defineCommand("watchman", "watch from another machine that every fire happens, and alert", {
    examples: [
      "escapement watchman --cluster cluster.yaml --watch watch.yaml",
      "escapement watchman --cluster cluster.yaml --once --json",
    ],
    exitCodes: [ExitCode.ok, ExitCode.failed, ExitCode.badData, ExitCode.unavailable],
    notes:
      "It needs the record store alone, with a login of the role watchman. Without --watch it reads watch.yaml\nbeside the cluster file; without that, alerts are log lines. --once looks once and ends with 1 when it has\nfound something worse than info. A store that is away is an alert, and is waited for.",
  })
    .requiredOption("--cluster <file>", "cluster file: store and nodes")
    .option("--watch <file>", "watch file: thresholds, channels, routes, silences")
    .option("--node <name>", "what this watchman is called (default: the name of the host)")
    .option("--http <address:port>", "where health and metrics are served (default: the watch file's)")
    .option("--once", "look once, print what is wrong, and end")
    .option("--json", "with --once: print one JSON document")
    .action(async (options: WatchmanOptions) => {
      const { runWatchman } = await import("./watchman-process.ts");
      await runWatchman(options);
    });
}
