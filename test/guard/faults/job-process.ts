/** The process that is hurt: told what to run over its channel, says how it ended, waits for the next. */
import { type JobTask, runJob } from "./scenarios.ts";

process.on("message", (task: JobTask) => {
  runJob(task).then(
    (end) => process.send?.({ end }),
    (error: unknown) => process.send?.({ error: error instanceof Error ? error.message : String(error) }),
  );
});
process.on("disconnect", () => process.exit());
process.send?.({ ready: true });
