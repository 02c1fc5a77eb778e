/** What a compiled schedule can answer. Every answer is a pure function of the spec, the zone data and the instant asked. */

/** A fixed time that does not exist on a day the clock jumps forward: run when the clock jumps, or not at all. */
export type DstGap = "run-at-transition" | "skip";

/** A fixed time that exists twice on a day the clock is set back: which of the two, or both. */
export type DstOverlap = "first" | "second" | "both";

export interface ScheduleSpec {
  /** A cron expression of 5 or 6 fields, or `@daily` and its like. Exactly one of `cron` and `every` is given. */
  readonly cron?: string;
  /** An interval such as `5m`, or milliseconds. Counted from the Unix epoch, so it does not depend on the zone. */
  readonly every?: string | number;
  /** An IANA zone name, or `UTC`. */
  readonly zone: string;
  /** Default `run-at-transition`. Job files always write it where the zone has transitions. */
  readonly dstGap?: DstGap;
  /** Default `first`. Job files always write it where the zone has transitions. */
  readonly dstOverlap?: DstOverlap;
}

/**
 * Instants are milliseconds since the Unix epoch. A schedule answers for the years 1970 to 2199; outside
 * of them there are no fires. `next`, `previous`, `matches` and `between` always agree with each other.
 */
export interface Schedule {
  /** The first fire strictly after the instant, or null when there is none before the year 2200. */
  next(afterMs: number): number | null;
  /** The last fire strictly before the instant, or null when there is none since 1970. */
  previous(beforeMs: number): number | null;
  /** True if the instant is a fire. */
  matches(ms: number): boolean;
  /** All fires in (from, to], ascending, at most `limit` of them. */
  between(fromMsExclusive: number, toMsInclusive: number, limit?: number): number[];
}
