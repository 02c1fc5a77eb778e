/**
 * The terminal is borrowed: the alternate screen is entered, and whatever ends the
 * process, it is left again, with the cursor, before anything else is written.
 *
 *   enter ──▶ on the alternate screen ── quit, signal, crash, exit ──▶ restored (once)
 */
import { writeSync } from "node:fs";

/** Alternate screen, cleared, cursor away. */
const enterCodes = "\x1b[?1049h\x1b[2J\x1b[H\x1b[?25l";
/** Synchronised output off, attributes off, cursor back, alternate screen left. */
const leaveCodes = "\x1b[?2026l\x1b[0m\x1b[?25h\x1b[?1049l";
/** Erases what is on the screen, never what has scrolled off it. */
export const eraseCodes = "\x1b[2J\x1b[H";

const signals = { SIGINT: 2, SIGTERM: 15, SIGHUP: 1 } as const;

export interface BorrowedTerminal {
  /** Idempotent; synchronous, because a dying process waits for nothing. */
  restore(): void;
}

/** @param before what must write no more once the terminal is given back */
export function borrowTerminal(
  stdin: NodeJS.ReadStream,
  stdout: NodeJS.WriteStream,
  before: () => void,
): BorrowedTerminal {
  let borrowed = true;
  const restore = () => {
    if (!borrowed) return;
    borrowed = false;
    before();
    try {
      if (stdin.isTTY) stdin.setRawMode(false);
    } catch {
      // The terminal is gone.
    }
    try {
      writeSync(1, leaveCodes);
    } catch {
      // So it is.
    }
    for (const [signal, handler] of handlers) process.off(signal, handler);
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
  // Before the handlers that print an error: it belongs on the screen that stays.
  process.prependListener("uncaughtException", restore);
  process.prependListener("unhandledRejection", restore);
  process.on("exit", restore);
  stdout.write(enterCodes);
  return { restore };
}
