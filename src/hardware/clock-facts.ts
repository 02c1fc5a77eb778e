/** What is read about the clock of a host: its source, its zone, and the daemon that keeps it. */
import type { Fact, ListFact } from "../base/fact.ts";

export interface ClockFacts {
  /** "tsc", "hpet", "kvm-clock". */
  readonly source: Fact<string>;
  readonly available: Fact<readonly string[]>;
  readonly timeZone: Fact<string>;
  readonly rtcLocal: Fact<boolean>;
  readonly ntp: NtpFacts;
}

export interface NtpFacts {
  /** "chronyd", "ntpd", "systemd-timesyncd", or "none". */
  readonly daemon: Fact<string>;
  readonly running: Fact<boolean>;
  /** 0: never synchronised; 1 to 15 else. */
  readonly stratum: Fact<number>;
  readonly leap: Fact<string>;
  /** Only of a clock that is synchronised; positive: the system clock is fast. */
  readonly offsetSeconds: Fact<number>;
  readonly sources: ListFact<NtpSource>;
  /** Polls of the last 8 that the selected source answered; without one, the best of all. */
  readonly reach: Fact<number>;
  readonly configuration: Fact<NtpConfiguration>;
}

export interface NtpSource {
  readonly name: string;
  readonly kind: "server" | "peer" | "reference clock";
  /** "selected", "combined", "not combined", "unreachable", "falseticker", "variable". */
  readonly state: string;
  readonly stratum: number;
  /** Polls of the last 8 that were answered. */
  readonly reach: number;
  readonly offsetSeconds: Fact<number>;
}

/** What chrony.conf says about jumps of the clock. */
export interface NtpConfiguration {
  /** Absent directive: undefined. `limit` -1: at any time. */
  readonly makestep: { readonly thresholdSeconds: number; readonly limit: number } | undefined;
  /** chrony's own default is "system". */
  readonly leapSecondMode: string;
  readonly minSources: number;
  readonly maxSlewRatePpm: number;
  readonly servers: readonly string[];
}
