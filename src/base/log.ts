/**
 * Structured logs of the long-running processes: one JSON object a line on
 * standard output, written by pino. Commands do not log; they print.
 */
import { writeSync } from "node:fs";
import { pino } from "pino";
import { redact } from "./redact.ts";

export interface Log {
  info(fields: Record<string, unknown>, message: string): void;
  warn(fields: Record<string, unknown>, message: string): void;
  error(fields: Record<string, unknown>, message: string): void;
  debug(fields: Record<string, unknown>, message: string): void;
}

/** Opens the log of one process. @param part for example `scheduler`. @param fields bound to every line. */
export function openLog(part: string, fields: Record<string, unknown> = {}): Log {
  const options = {
    level: process.env.ESCAPEMENT_LOG_LEVEL ?? "info",
    base: { part, pid: process.pid, ...fields },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: {
      error: (error: unknown) =>
        redact(error instanceof Error ? (error.stack ?? error.message) : String(error)),
    },
  };
  return pino(options, standardOutput);
}

/**
 * A full disk or a reader that went away must neither stop a process nor keep it
 * from stopping: the line is lost, the work goes on.
 */
const standardOutput = {
  write(line: string): void {
    try {
      writeSync(1, line);
    } catch (error) {
      // A slow reader: let Node keep the line until there is room.
      if ((error as NodeJS.ErrnoException).code === "EAGAIN") process.stdout.write(line);
    }
  },
};
