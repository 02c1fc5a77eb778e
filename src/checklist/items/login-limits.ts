/** Whether the sessions of a login lose their locks soon enough when their client is gone or frozen. */
import type { LoginSetting } from "../../store/checklist/logins.ts";

export const limitSettings = [
  "idle_in_transaction_session_timeout",
  "tcp_keepalives_idle",
  "tcp_keepalives_interval",
  "tcp_keepalives_count",
] as const;

type Setting = (typeof limitSettings)[number];

/** A peer without power must be noticed within that: 5 s of silence and three questions 5 s apart. */
const mostSilenceSeconds = 20;

const unitMs: Readonly<Record<string, number>> = {
  us: 0.001,
  ms: 1,
  s: 1_000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/**
 * A value as PostgreSQL writes it.
 * @param unit what a bare number means
 * @returns milliseconds, or the number where it is a count; undefined for what it cannot be
 */
export function settingValue(text: string, unit: string | null): number | undefined {
  const match = /^\s*(\d+(?:\.\d+)?)\s*(us|ms|s|min|h|d)?\s*$/.exec(text.replace(/^'(.*)'$/, "$1"));
  if (!match) return undefined;
  return Number(match[1]) * (unitMs[match[2] ?? unit ?? ""] ?? 1);
}

export interface LimitProblems {
  readonly failed: readonly string[];
  readonly unseen: readonly string[];
}

/**
 * @param rows the settings of one login
 * @param leaseMs the shortest lease: locks of a frozen client must go before it ends
 */
export function limitProblems(rows: readonly LoginSetting[], leaseMs: number): LimitProblems {
  const failed: string[] = [];
  const unseen: string[] = [];
  const value = (setting: Setting): number | undefined => {
    const row = rows.find((one) => one.setting === setting);
    const text = row?.own ?? row?.server;
    const found = text === null || text === undefined ? undefined : settingValue(text, row!.unit);
    if (found === undefined) unseen.push(setting);
    return found;
  };
  const idleMs = value("idle_in_transaction_session_timeout");
  if (idleMs === 0)
    failed.push("a frozen client keeps its locks for ever (idle_in_transaction_session_timeout is 0)");
  else if (idleMs !== undefined && idleMs >= leaseMs)
    failed.push(
      `a frozen client keeps its locks for ${idleMs / 1_000} s, the shortest lease is ${leaseMs / 1_000} s`,
    );
  const idle = value("tcp_keepalives_idle");
  const interval = value("tcp_keepalives_interval");
  const count = value("tcp_keepalives_count");
  if (idle !== undefined && interval !== undefined && count !== undefined) {
    const seconds = (idle + interval * count) / 1_000;
    if (idle === 0 || interval === 0 || count === 0)
      failed.push("keepalives are those of the operating system, usually two hours (tcp_keepalives_* are 0)");
    else if (seconds > mostSilenceSeconds)
      failed.push(`a host without power is noticed after ${seconds} s, more than ${mostSilenceSeconds} s`);
  }
  return { failed, unseen };
}
