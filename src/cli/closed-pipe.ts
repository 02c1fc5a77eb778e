/**
 * What a command does when whoever reads its output goes away (`| head`, a pager
 * that was quit, a log shipper that died): it goes on without a word and ends with
 * its own exit code. To end there and then would leave a drill behind in its fault,
 * and to end with 0 would say that a gate has passed. Only a command that does
 * nothing but show, for as long as it is asked to, ends with its reader.
 */
import { EscapementError } from "../base/errors.ts";
import { ExitCode } from "../base/exit-code.ts";
import { reportError } from "./error-report.ts";

let isOnlyShown = false;

/** For a command that shows until it is stopped and changes nothing: nobody reads, so it has ended. */
export function endWithReader(): void {
  isOnlyShown = true;
}

/** Hears of it when the output cannot be written any more. To be called before anything is written. */
export function surviveClosedPipes(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EPIPE") {
        if (isOnlyShown) process.exit(process.exitCode ?? ExitCode.ok);
        return;
      }
      const hint = "is the disk full?";
      process.exit(
        reportError(new EscapementError("E_UNAVAILABLE", { what: `cannot write: ${error.message}`, hint })),
      );
    });
  }
}
