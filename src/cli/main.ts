/**
 * The entry of the command line. Does three things before anything else is
 * loaded: survives a closed pipe, picks the command, and turns whatever is
 * thrown into one clear message and an exit code.
 */
import { EscapementError } from "../base/errors.ts";
import { ExitCode } from "../base/exit-code.ts";
import { reportError } from "./error-report.ts";
import { runProgram } from "./program.ts";

for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    // The reader went away (`| head`): that is not our failure.
    if (error.code === "EPIPE") process.exit(process.exitCode ?? ExitCode.ok);
    const hint = "is the disk full?";
    process.exit(
      reportError(new EscapementError("E_UNAVAILABLE", { what: `cannot write: ${error.message}`, hint })),
    );
  });
}

process.on("uncaughtException", (error) => {
  process.exit(reportError(error));
});
process.on("unhandledRejection", (error) => {
  process.exit(
    reportError(error instanceof Error ? error : new EscapementError("E_BUG", { what: String(error) })),
  );
});

try {
  await runProgram(process.argv.slice(2));
} catch (error) {
  process.exitCode = reportError(error);
}
