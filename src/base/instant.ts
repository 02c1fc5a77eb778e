/** Instants as text: RFC 3339 in UTC with milliseconds, as the records keep them. */
import { EscapementError } from "./errors.ts";

/** Reads RFC 3339 with a zone offset or `Z`. @throws E_INSTANT (a local time without offset included) */
export function parseInstant(text: string): Date {
  const form = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})$/i;
  const date = new Date(text.replace(" ", "T"));
  // Date moves the 30th of February to March: a day that does not exist must not become another one.
  const day = new Date(`${text.slice(0, 10)}T00:00:00Z`);
  const exists = !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text.slice(0, 10));
  if (!form.test(text) || Number.isNaN(date.getTime()) || !exists)
    throw new EscapementError("E_INSTANT", { value: JSON.stringify(text) });
  return date;
}

/** `2026-07-01T02:00:00.000Z`. */
export function formatInstant(date: Date): string {
  return date.toISOString();
}
