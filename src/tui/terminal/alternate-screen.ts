/**
 * The terminal is borrowed: the alternate screen is entered, and whatever ends the
 * process, it is left again, with the cursor, before anything else is written.
 *
 *   enter ──▶ on the alternate screen ── quit, signal, crash, exit ──▶ restored (once)
 *                │            ▲
 *             SIGTSTP      SIGCONT
 *                ▼            │
 *              lent back, stopped
 */
import { writeSync } from "node:fs";

/**
 * Alternate screen, cleared, cursor away, and no wrapping: where a terminal takes a
 * character for wider than we do, the row is cut at the edge, and the next one is whole.
 * Pastes are marked as such: their letters are nobody's keys.
 */
const enterCodes = "\x1b[?1049h\x1b[2J\x1b[H\x1b[?25l\x1b[?7l\x1b[?2004h";
/** Synchronised output off, marks of pastes off, attributes off, wrapping and cursor back, alternate screen left. */
const leaveCodes = "\x1b[?2026l\x1b[?2004l\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l";
/** Erases what is on the screen, never what has scrolled off it. */
export const eraseCodes = "\x1b[2J\x1b[H";

const signals = { SIGINT: 2, SIGTERM: 15, SIGHUP: 1, SIGQUIT: 3 } as const;

export interface BorrowedTerminal {
  /** Idempotent; synchronous, because a dying process waits for nothing. Does not return where there is no terminal any more. */
  restore(): void;
}

/**
 * Ends as whoever is hung up on. An ordinary exit would put back the modes of a
 * terminal that is gone, and Node aborts with a core dump over that.
 */
function hangUp(): void {
  process.removeAllListeners("SIGHUP");
  process.kill(process.pid, "SIGHUP");
}

/**
 * @param before what must write no more once the terminal is given back
 * @param again draws everything: it was stopped, and others have written since
 */
export function borrowTerminal(
  stdin: NodeJS.ReadStream,
  stdout: NodeJS.WriteStream,
  before: () => void,
  again: () => void,
): BorrowedTerminal {
  let borrowed = true;
  const raw = (on: boolean) => {
    try {
      if (stdin.isTTY) stdin.setRawMode(on);
    } catch {
      // The terminal is gone.
    }
  };
  /** @returns whether there still was a terminal */
  const leave = () => {
    raw(false);
    try {
      writeSync(1, leaveCodes);
      return true;
    } catch (error) {
      // Only full, and somebody else's problem.
      return (error as NodeJS.ErrnoException).code === "EAGAIN";
    }
  };
  const stop = () => {
    leave();
    process.kill(process.pid, "SIGSTOP");
  };
  const goOn = () => {
    // Off first: the shell has changed the modes behind our back.
    raw(false);
    raw(true);
    stdout.write(enterCodes);
    again();
  };
  const restore = () => {
    if (!borrowed) return;
    borrowed = false;
    before();
    if (!leave()) hangUp();
    for (const [signal, handler] of handlers) process.off(signal, handler);
    process.off("SIGTSTP", stop).off("SIGCONT", goOn);
  };
  const handlers = Object.entries(signals).map(
    ([signal, number]) =>
      [
        signal as keyof typeof signals,
        () => {
          restore();
          process.exit(128 + number);
        },
      ] as const,
  );
  for (const [signal, handler] of handlers) process.on(signal, handler);
  process.on("SIGTSTP", stop).on("SIGCONT", goOn);
  // Before the handlers that print an error: it belongs on the screen that stays.
  process.prependListener("uncaughtException", restore);
  process.prependListener("unhandledRejection", restore);
  process.on("exit", restore);
  stdout.write(enterCodes);
  return { restore };
}
