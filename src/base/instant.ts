/** Instants as text: RFC 3339 in UTC with milliseconds, as the records keep them. */
import { EscapementError } from "./errors.ts";

/** Reads RFC 3339 with a zone offset or `Z`. @throws E_INSTANT (a local time without offset included) */
export function parseInstant(text: string): Date {
  const form = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})$/i;
  const date = new Date(text.replace(" ", "T"));
  if (!form.test(text) || Number.isNaN(date.getTime()))
    throw new EscapementError("E_INSTANT", { value: JSON.stringify(text) });
  return date;
}

/** `2026-07-01T02:00:00.000Z`. */
export function formatInstant(date: Date): string {
  return date.toISOString();
}
