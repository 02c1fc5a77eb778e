/** What a watchman works by: durations in milliseconds, paths absolute, secrets as places, never as values. */
import type { HttpAddress } from "./cluster-definition.ts";
import type { MatchDocument, WatchDocument } from "./watch-schema.ts";

/** Where a secret, or a URL that holds one, is read from. */
export type SecretPlace =
  | { readonly from: "plain"; readonly value: string }
  | { readonly from: "file"; readonly file: string }
  | { readonly from: "env"; readonly variable: string };

interface ChannelBase {
  readonly name: string;
  readonly timeoutMs: number;
}

export type WatchChannel = ChannelBase &
  (
    | { readonly type: "webhook"; readonly url: SecretPlace; readonly secret: SecretPlace }
    | { readonly type: "alertmanager"; readonly url: SecretPlace; readonly resendEveryMs: number }
    | { readonly type: "exec"; readonly command: readonly string[]; readonly folder: string }
    | { readonly type: "pagerduty"; readonly url: SecretPlace; readonly routingKey: SecretPlace }
    | { readonly type: "slack"; readonly url: SecretPlace }
    | {
        readonly type: "smtp";
        readonly host: string;
        readonly port: number;
        readonly security: "none" | "starttls" | "tls";
        readonly caFile?: string;
        readonly login?: { readonly user: string; readonly password: SecretPlace };
        readonly from: string;
        readonly to: readonly string[];
      }
  );

/** Lists of patterns in which * stands for any characters. What is not named fits everything. */
export type AlertMatch = MatchDocument;

export interface WatchRoute {
  readonly match: AlertMatch;
  readonly channels: readonly string[];
  readonly fallback: readonly string[];
  readonly escalation?: { readonly afterMs: number; readonly to: readonly string[] };
}

export interface WatchSilence {
  readonly match: AlertMatch;
  readonly until: Date;
  readonly reason: string;
  readonly by: string;
}

export type WatchWindow = { readonly match: AlertMatch; readonly reason: string } & (
  | { readonly kind: "repeated"; readonly cron: string; readonly zone: string; readonly durationMs: number }
  | { readonly kind: "single"; readonly from: Date; readonly to: Date }
);

export interface DeliverySettings {
  readonly retryFirstMs: number;
  readonly retryCapMs: number;
  /** Failures after which the fallback is told, too. */
  readonly fallbackAfter: number;
  readonly keepTryingMs: number;
  /** More messages than this at once become one. */
  readonly digestAbove: number;
  /** Messages that waited this long become one. */
  readonly digestAfterMs: number;
}

export interface WatchRule {
  readonly enabled: boolean;
  readonly forMs?: number;
  readonly severity?: "info" | "warning" | "critical";
}

/** Durations in milliseconds; factors as parts of one. */
export type WatchThresholds = WatchDocument["spec"]["thresholds"];

export interface WatchDefinition {
  readonly name: string;
  readonly everyMs: number;
  readonly startUpGraceMs: number;
  readonly http: HttpAddress;
  readonly spoolFile: string;
  readonly thresholds: WatchThresholds;
  /** The first that fits counts. */
  readonly jobs: readonly {
    readonly job: string;
    readonly graceMs: number;
    readonly deadlineMs: number | null;
  }[];
  readonly rules: Readonly<Record<string, WatchRule>>;
  readonly channels: readonly WatchChannel[];
  /** The first that fits counts; the last one fits all. */
  readonly routes: readonly WatchRoute[];
  readonly silences: readonly WatchSilence[];
  readonly windows: readonly WatchWindow[];
  readonly delivery: DeliverySettings;
  readonly heartbeat?: { readonly url: SecretPlace; readonly everyMs: number; readonly timeoutMs: number };
  readonly testAlert?: { readonly cron: string; readonly zone: string; readonly withinMs: number };
}
