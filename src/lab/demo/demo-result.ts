/** Everything the demo has seen, as `--json` prints it. Times are milliseconds, money is pence. */
import type { Finding, Verdict } from "./finding.ts";
import type { PayoutSummary } from "./judge-effects.ts";
import type { JudgedFire } from "./judge-fires.ts";
import type { PeriodSettlement } from "./judge-settlement.ts";
import type { ExecutorKill, LeaderKill } from "./kill.ts";
import type { PlannedStop } from "./planned-stop.ts";
import type { Refusal } from "./refusals.ts";

export interface MisfireShow {
  readonly job: string;
  readonly policy: "run-now" | "skip" | "within-window";
  readonly thresholdMs: number;
  readonly windowMs: number | null;
  /** Fires that came due while nobody ran. */
  readonly due: number;
  readonly onTime: number;
  readonly caughtUp: number;
  readonly missed: number;
}

export interface DemoResult {
  readonly verdict: Verdict;
  readonly findings: readonly Finding[];
  readonly tookMs: number;
  /** Every process is real; they share one machine, one kernel and one clock. */
  readonly tier: "process";
  readonly postgres: { readonly major: number; readonly source: string };
  readonly cluster: {
    readonly schedulers: number;
    readonly executors: number;
    readonly leaseMs: number;
    readonly lookAheadMs: number;
  };
  readonly input: {
    /** A seed, or the folder of `--data`. */
    readonly seed: number;
    readonly data: string | null;
    readonly payments: number;
    readonly heavySupplier: string;
    readonly heavyRows: number;
    readonly people: number;
  };
  readonly leaderKill: LeaderKill;
  /** Null when no executor with running attempts could be caught. */
  readonly executorKill: ExecutorKill | null;
  readonly stop: PlannedStop;
  readonly misfire: readonly MisfireShow[];
  readonly fires: readonly JudgedFire[];
  readonly settlement: readonly PeriodSettlement[];
  readonly payouts: PayoutSummary & { readonly requests: number; readonly repeats: number };
  readonly snapshots: { readonly due: number; readonly taken: number };
  readonly refusals: readonly Refusal[];
  readonly staleWrites: { readonly store: number; readonly ledger: number };
  readonly shardsRetried: number;
  /** Attempts that did not succeed, by outcome. */
  readonly attemptsLost: Readonly<Record<string, number>>;
}
