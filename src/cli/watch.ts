/** `escapement watch`: the screens as plain lines, for logs, pipes and terminals that cannot do more. */
import { type Command, InvalidArgumentError, Option } from "commander";
import { ExitCode } from "../base/exit-code.ts";
import { endWithReader } from "./closed-pipe.ts";
import { defineCommand } from "./command.ts";
import { reportError } from "./error-report.ts";
import { durationOption } from "./parse-option.ts";
import { type StoreOptions, withStore, withStoreOptions } from "./store-url.ts";
import { print, printJson, printJsonLine } from "./terminal.ts";

interface WatchOptions extends StoreOptions {
  readonly every: number;
  readonly once?: boolean;
  readonly json?: boolean;
}

export function build(): Command {
  const command = defineCommand("watch", "what ran, what did not, and what is new, as plain lines", {
    examples: [
      "escapement watch --cluster cluster.yaml",
      "escapement watch --once --json --cluster cluster.yaml",
      "escapement watch --every 30s --cluster cluster.yaml >> watch.log",
    ],
    exitCodes: [
      ExitCode.ok,
      ExitCode.failed,
      ExitCode.refused,
      ExitCode.unknown,
      ExitCode.badData,
      ExitCode.unavailable,
      ExitCode.interrupted,
    ],
    notes:
      "A line sums up, one line each tells what is new: fires that failed or are missing, alerts, drills.\nWith --once: exit 1 when nobody leads, or a fire of today failed or is missing;\n5 when the schedule of a job cannot be read here. Ends with Ctrl-C.",
  })
    .addOption(
      new Option("--every <duration>", "time between two looks, 1s to 1d")
        .default(5_000, "5s")
        .argParser(every),
    )
    .option("--once", "look once and end")
    .option("--json", "print one JSON document a look, a line each");
  return withStoreOptions(command).action(async (options: WatchOptions) => {
    const { watch } = await import("../tui/watch/watch.ts");
    const { watchDocument } = await import("../tui/watch/watch-document.ts");
    const everyMs = options.every;
    if (!options.once) endWithReader();
    const stop = new AbortController();
    for (const signal of ["SIGINT", "SIGTERM"] as const)
      process.once(signal, () => {
        process.exitCode = ExitCode.interrupted;
        stop.abort();
      });
    await withStore(options, async (db) => {
      const picture = await watch({
        db,
        everyMs,
        once: options.once ?? false,
        signal: stop.signal,
        print,
        ...(options.json
          ? {
              onPicture: (one) =>
                options.once ? printJson(watchDocument(one)) : printJsonLine({ ...watchDocument(one) }),
              onAway: (error) => void reportError(error),
            }
          : {}),
      });
      if (!options.once || !picture) return;
      const { leader } = picture.cluster;
      const { failed, missed } = picture.jobs.today;
      if (!leader.alive || failed + missed + picture.jobs.unplannedToday > 0)
        process.exitCode = ExitCode.failed;
      else if (picture.jobs.unreadable > 0) process.exitCode = ExitCode.unknown;
    });
  });
}

function every(text: string): number {
  const ms = durationOption(text);
  if (ms < 1_000 || ms > 86_400_000) throw new InvalidArgumentError("must be 1s to 1d");
  return ms;
}
