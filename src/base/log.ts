/**
 * Structured logs of the long-running processes: one JSON object a line on
 * standard output, written by pino. Commands do not log; they print.
 */
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
  return pino({
    level: process.env.ESCAPEMENT_LOG_LEVEL ?? "info",
    base: { part, pid: process.pid, ...fields },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    serializers: {
      error: (error: unknown) =>
        redact(error instanceof Error ? (error.stack ?? error.message) : String(error)),
    },
  });
}

/** A log that says nothing, for tests and libraries. */
