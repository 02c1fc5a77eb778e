/** `escapement explain-fire`: why a job ran, or did not run, at a time. */
import type { Command } from "commander";
import { ExitCode } from "../base/exit-code.ts";
import { defineCommand } from "./command.ts";
import { type StoreOptions, withStore, withStoreOptions } from "./store-url.ts";
import { paint, print, printJson } from "./terminal.ts";

/** Fires of a day and a half to either side: enough to see what stood in the way. */
const aroundMs = 36 * 3_600_000;

export function build(): Command {
  const command = defineCommand("explain-fire", "why a job ran, or did not run, at a time", {
    examples: [
      "escapement explain-fire settlement 2026-07-01T02:00:00Z --cluster cluster.yaml",
      "escapement explain-fire settlement 02:00",
      "escapement explain-fire settlement 2026-03-29T02:30 --json",
    ],
    exitCodes: [ExitCode.ok, ExitCode.failed, ExitCode.unavailable],
    notes:
      "TIME is an instant with its offset, a local time of the job's zone, or only a time of day: the last one.\nExit 1 when something went wrong that nobody intended.",
  })
    .argument("<job>", "name, or namespace/name")
    .argument("<time>", "when")
    .option("--json", "print one JSON document");
  return withStoreOptions(command).action(
    async (name: string, text: string, options: StoreOptions & { json?: boolean }) => {
      const { requireJob } = await import("../store/job.ts");
      const { readStoreTime } = await import("../store/store-time.ts");
      const { explainFire } = await import("../watchman/diagnose/explain-fire.ts");
      const { parseMoment } = await import("../watchman/diagnose/local-moment.ts");
      const { readWindow } = await import("../watchman/diagnose/read-window.ts");
      await withStore(options, async (db) => {
        const row = await requireJob(db, name);
        const moment = parseMoment(text, row.definition.timeZone, await readStoreTime(db));
        const explanations = [];
        for (const time of moment.instants) {
          const { rows } = await readWindow(db, {
            jobId: row.jobId,
            from: new Date(time.getTime() - aroundMs),
            to: new Date(time.getTime() + aroundMs),
          });
          explanations.push(explainFire(rows.jobs[0]!, rows, time, moment.clock));
        }
        if (explanations.some(({ diagnosis }) => diagnosis && !diagnosis.intended))
          process.exitCode = ExitCode.failed;
        if (options.json) return printJson({ explanations });
        for (const [i, { sentences, next }] of explanations.entries()) {
          if (i > 0) print();
          const [first, ...others] = sentences;
          print(paint.bold(first ?? ""));
          for (const sentence of others) print(`  ${sentence}`);
          if (next !== null) print(`  next: ${next}`);
        }
      });
    },
  );
}
