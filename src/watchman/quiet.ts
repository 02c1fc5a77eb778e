/** Silences and maintenance windows: why nobody is told of an alert at an instant. */
import { compileSchedule } from "../schedule/compile.ts";
import type { Schedule } from "../schedule/schedule.ts";
import { fits, type Matchable } from "../spec/alert-match.ts";
import type { AlertMatch, WatchWindow } from "../spec/watch-definition.ts";

export interface Silence {
  readonly match: AlertMatch;
  readonly until: Date;
  readonly reason: string;
  readonly by: string;
}

type Compiled = { readonly window: WatchWindow; readonly schedule: Schedule | undefined };

export class QuietTimes {
  readonly #windows: readonly Compiled[];

  /** @throws E_CRON_SYNTAX, E_ZONE_UNKNOWN; a checked file has neither */
  constructor(windows: readonly WatchWindow[]) {
    this.#windows = windows.map((window) => ({
      window,
      schedule:
        window.kind === "repeated" ? compileSchedule({ cron: window.cron, zone: window.zone }) : undefined,
    }));
  }

  /** Why this alert is quiet now, or null. A silence ends at its `until`; a window lasts from its begin up to its end. */
  reason(alert: Matchable, silences: readonly Silence[], now: Date): string | null {
    for (const silence of silences)
      if (now < silence.until && fits(silence.match, alert))
        return `silenced by ${silence.by} until ${silence.until.toISOString()}: ${silence.reason}`;
    for (const { window, schedule } of this.#windows)
      if (fits(window.match, alert) && isIn(window, schedule, now.getTime()))
        return `maintenance: ${window.reason}`;
    return null;
  }
}

function isIn(window: WatchWindow, schedule: Schedule | undefined, nowMs: number): boolean {
  if (window.kind === "single") return window.from.getTime() <= nowMs && nowMs < window.to.getTime();
  const begin = schedule?.previous(nowMs + 1) ?? null;
  return begin !== null && nowMs < begin + window.durationMs;
}
