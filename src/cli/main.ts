/**
 * The entry of the command line. Does three things before anything else is
 * loaded: survives closed pipes, picks the command, and turns whatever is
 * thrown into one clear message and an exit code.
 */
import { EscapementError } from "../base/errors.ts";
import { surviveClosedPipes } from "./closed-pipe.ts";
import { reportError } from "./error-report.ts";
import { runProgram } from "./program.ts";

surviveClosedPipes();

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
