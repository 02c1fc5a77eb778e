/** Durations as people write them (`90s`, `1h30m`) and as the code keeps them (milliseconds). */
import { EscapementError } from "./errors.ts";

const unitMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/**
 * Reads a duration such as `500ms`, `30s`, `1h30m`, `2d`.
 * @returns milliseconds, a whole number ≥ 0.
 * @throws E_DURATION for anything else, a bare number included: a unit must be written.
 */
export function parseDuration(text: string): number {
  const pattern = /^(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+)s)?(?:(\d+)ms)?$/;
  const match = pattern.exec(text.trim());
  if (!match || text.trim() === "") throw new EscapementError("E_DURATION", { value: JSON.stringify(text) });
  const [, d, h, m, s, ms] = match;
  const total =
    Number(d ?? 0) * unitMs.d +
    Number(h ?? 0) * unitMs.h +
    Number(m ?? 0) * unitMs.m +
    Number(s ?? 0) * unitMs.s +
    Number(ms ?? 0);
  if (!Number.isSafeInteger(total)) throw new EscapementError("E_DURATION", { value: JSON.stringify(text) });
  return total;
}

/** Writes milliseconds so that {@link parseDuration} reads the same value back. */
export function formatDuration(ms: number): string {
  if (ms === 0) return "0s";
  const sign = ms < 0 ? "-" : "";
  let rest = Math.round(Math.abs(ms));
  let text = "";
  for (const unit of ["d", "h", "m", "s", "ms"] as const) {
    const count = Math.floor(rest / unitMs[unit]);
    if (count > 0) text += `${count}${unit}`;
    rest -= count * unitMs[unit];
  }
  return sign + (text || "0s");
}
