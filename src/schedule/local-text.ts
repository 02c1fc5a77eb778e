/** Instants and local times as text in a zone. */
import type { Zone } from "./zone.ts";

/** `2026-03-29T03:00:00+02:00`: local time with its offset, RFC 3339. @param fireMs whole seconds */
export function formatInZone(fireMs: number, zone: Zone): string {
  const offset = zone.offsetAt(fireMs / 1000);
  return `${wallText(fireMs / 1000 + offset)}${offsetText(offset)}`;
}

/** `2026-03-29`, of a local time in seconds. */
export function dateText(localSec: number): string {
  return wallText(localSec).slice(0, 10);
}

/** `02:30`, or `02:30:15` where there are seconds, of a local time in seconds. */
export function clockText(localSec: number): string {
  const text = wallText(localSec).slice(11);
  return text.endsWith(":00") ? text.slice(0, 5) : text;
}

function wallText(localSec: number): string {
  return new Date(localSec * 1000).toISOString().slice(0, 19);
}

function offsetText(offsetSec: number): string {
  if (offsetSec === 0) return "+00:00";
  const size = Math.abs(offsetSec);
  const two = (value: number) => String(Math.floor(value)).padStart(2, "0");
  const seconds = size % 60 === 0 ? "" : `:${two(size % 60)}`;
  return `${offsetSec < 0 ? "-" : "+"}${two(size / 3600)}:${two((size / 60) % 60)}${seconds}`;
}
