/** What a check may say. Unknown is never a pass: it is listed with the reason why nobody can tell. */
import type { HostFacts } from "../host-facts.ts";

export type Severity = "critical" | "warning" | "info";

export interface Finding {
  readonly status: "bad";
  /** Stable name of the check: "raid-cache-unprotected". */
  readonly id: string;
  readonly severity: Severity;
  /** The part it is about, where a host has several: "sda". */
  readonly subject?: string;
  /** One sentence. */
  readonly reason: string;
  /** What to do. */
  readonly action: string;
  /** What was read, in the words of its source. */
  readonly evidence: string;
}

export interface Unjudged {
  readonly status: "unknown";
  readonly id: string;
  readonly subject?: string;
  readonly reason: string;
}

export interface Passed {
  readonly status: "good";
  readonly id: string;
  readonly subject?: string;
  readonly evidence: string;
}

export type Verdict = Finding | Unjudged | Passed;

/** What the facts do not hold and some checks need. */
export interface CheckContext {
  /** A path below which the record store keeps its data; its disk must survive a power cut. */
  readonly recordStorePath?: string;
}

/** No verdict at all means: there is no such part to judge. */
export type Check = (host: HostFacts, context: CheckContext) => readonly Verdict[];

export function bad(
  id: string,
  severity: Severity,
  texts: { readonly reason: string; readonly action: string; readonly evidence: string },
  subject?: string,
): Finding {
  return { status: "bad", id, severity, ...texts, ...(subject === undefined ? {} : { subject }) };
}

export function unjudged(id: string, reason: string, subject?: string): Unjudged {
  return { status: "unknown", id, reason, ...(subject === undefined ? {} : { subject }) };
}

export function good(id: string, evidence: string, subject?: string): Passed {
  return { status: "good", id, evidence, ...(subject === undefined ? {} : { subject }) };
}

/** true, where the host is known to be a virtual machine or container. */
export function isVirtual(host: HostFacts): boolean {
  return "known" in host.os.virtualization && host.os.virtualization.known !== "none";
}
