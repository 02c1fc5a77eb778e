/** A timetable of drills as the program sees it: plain data, kept whole with every job that is made of it. */
import type { DrillClass } from "./drill-definition.ts";

/** The namespace of the jobs that a timetable becomes; probe jobs of running drills have another one. No job file names them. */
export const timetableNamespace = "drills";

/** The variable by which such a job carries the text of its timetable. */
export const timetableVariable = "DRILL_TIMETABLE";

/** From 0, Sunday, as in cron expressions. */
export type Weekday = 0 | 1 | 2 | 3 | 4 | 5 | 6;

export interface OfficeHours {
  readonly weekdays: readonly Weekday[];
  /** Minutes from local midnight; a drill begins at or after `from` and is over before `to`. */
  readonly fromMinute: number;
  readonly toMinute: number;
}

/** A local calendar day on which the cluster must be left alone: every year, every month, or once. */
export type PeakDay =
  | { readonly kind: "date"; readonly date: string; readonly reason: string }
  /** From the end where negative: −1 is the last day. */
  | { readonly kind: "day-of-month"; readonly day: number; readonly reason: string };

/** No drill begins from `from` on and before `to`; instants in RFC 3339. */
export interface FreezeWindow {
  readonly from: string;
  readonly to: string;
  readonly reason: string;
}

export interface ScheduledDrill {
  readonly drill: string;
  /** Without it all variants, one after the other. */
  readonly variant?: string;
  readonly class: DrillClass;
}

/** What runs it: an executor with control slots, on a host that is no target. */
export interface DrillController {
  /** Program and first arguments. */
  readonly program: readonly string[];
  /** Absolute path on the controller. */
  readonly inventory: string;
  readonly cluster: string;
  /** A folder for reports and histories. */
  readonly reports: string;
  readonly runAs?: string;
}

export interface DrillScheduleDefinition {
  readonly name: string;
  readonly description?: string;
  /** IANA name: office hours and peak days are days of its calendar. */
  readonly timeZone: string;
  readonly officeHours: OfficeHours;
  /** Any text; another one gives other minutes. */
  readonly seed: string;
  readonly peakDays: readonly PeakDay[];
  readonly awayFromPeakMs: number;
  readonly freezes: readonly FreezeWindow[];
  /** Each once a week. */
  readonly drills: readonly ScheduledDrill[];
  readonly controller: DrillController;
  /** Of one drill with all its variants. */
  readonly timeoutMs: number;
}
