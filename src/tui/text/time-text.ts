/** Times and amounts as a person reads them at a glance. The zone is said where the time is. */

const two = (value: number) => String(value).padStart(2, "0");

/** `02:07`, UTC. */
export function clockUtc(date: Date): string {
  return `${two(date.getUTCHours())}:${two(date.getUTCMinutes())}`;
}

/** `02:07:31`, UTC. */
export function clockSecondsUtc(date: Date): string {
  return `${clockUtc(date)}:${two(date.getUTCSeconds())}`;
}

/** `02:07` on the same UTC day as `now`, `29 02:07` in another of the same or a neighbouring month, else with the month. */
export function whenUtc(date: Date, now: Date): string {
  const day = date.toISOString().slice(0, 10);
  if (day === now.toISOString().slice(0, 10)) return clockUtc(date);
  if (Math.abs(date.getTime() - now.getTime()) > 320 * 86_400_000) return day;
  return `${day.slice(5)} ${clockUtc(date)}`;
}

/** `2026-11-30 02:07:31`, UTC. */
export function dateTimeUtc(date: Date): string {
  return date.toISOString().slice(0, 19).replace("T", " ");
}

/** At most five characters: `3ms`, `12s`, `4m07`, `3h20`, `12d`. */
export function shortDuration(ms: number): string {
  if (ms < 0) return `-${shortDuration(-ms)}`;
  if (ms < 1_000) return `${Math.round(ms)}ms`;
  if (ms < 9_950) return `${(ms / 1_000).toFixed(1)}s`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)}m${two(seconds % 60)}`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)}h${two(Math.floor((seconds % 3_600) / 60))}`;
  return `${Math.floor(seconds / 86_400)}d`;
}

/** `12 s ago`, `in 4 m`: coarse, so that it does not flicker. */
export function away(date: Date, now: Date): string {
  const ms = date.getTime() - now.getTime();
  const size = coarse(Math.abs(ms));
  return ms >= 0 ? `in ${size}` : `${size} ago`;
}

/** One unit: `12s`, `4m`, `3h`, `12d`. */
export function coarse(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  if (seconds < 100) return `${seconds}s`;
  if (seconds < 6_000) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3_600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}

/** `+3 ms`, `-1.2 s`. */
export function offsetText(ms: number): string {
  const sign = ms < 0 ? "-" : "+";
  const size = Math.abs(ms);
  return size < 1_000
    ? `${sign}${size < 10 ? size.toFixed(1) : Math.round(size)} ms`
    : `${sign}${(size / 1_000).toFixed(1)} s`;
}

/** `12,345`. */
export function count(value: number): string {
  return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** A count that may have stopped at a bound: `10,000+`. */
export function bounded(value: number, bound: number): string {
  return value >= bound ? `${count(bound)}+` : count(value);
}
