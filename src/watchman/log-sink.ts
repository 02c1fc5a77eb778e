/** Findings as log lines: what is new, and what has gone. For a watchman without a watch file. */
import type { Log } from "../base/log.ts";
import type { AlertSink } from "./alert-sink.ts";
import type { Finding } from "./finding.ts";
import type { Picture } from "./picture.ts";

export class LogSink implements AlertSink {
  readonly #log: Log;
  #open = new Map<string, Finding>();

  constructor(log: Log) {
    this.#log = log;
  }

  async present(findings: readonly Finding[], picture: Picture | null): Promise<void> {
    const seen = new Map(findings.map((finding) => [finding.key, finding]));
    for (const [key, finding] of seen) {
      if (this.#open.has(key)) continue;
      const { message, severity, ...rest } = finding;
      const level = severity === "critical" ? "error" : severity === "warning" ? "warn" : "info";
      this.#log[level]({ ...rest, severity }, message);
    }
    for (const [key, finding] of this.#open) {
      // While the store is away nothing has gone: it cannot be seen.
      if (!picture) seen.set(key, finding);
      else if (!seen.has(key)) this.#log.info({ key, rule: finding.rule }, `over: ${finding.message}`);
    }
    this.#open = seen;
  }

  async close(): Promise<void> {}
}
