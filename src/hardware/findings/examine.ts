/** Runs every check on one host's facts. */
import type { HostFacts } from "../host-facts.ts";
import { diskFindings } from "./disk.ts";
import { machineFindings } from "./machine.ts";
import { networkFindings } from "./network.ts";
import { powerFindings } from "./power.ts";
import { raidFindings } from "./raid.ts";
import { timeFindings } from "./time.ts";
import type { Check, CheckContext, Finding, Passed, Unjudged, Verdict } from "./verdict.ts";
import { unjudged } from "./verdict.ts";

export interface Examination {
  /** Worst first. */
  readonly findings: readonly Finding[];
  /** What could not be judged, and why: no pass. */
  readonly unjudged: readonly Unjudged[];
  readonly passed: readonly Passed[];
}

const checks: readonly Check[] = [
  raidFindings,
  diskFindings,
  powerFindings,
  timeFindings,
  machineFindings,
  networkFindings,
  (host) => ("unknown" in host.isComplete ? [unjudged("facts-complete", host.isComplete.unknown)] : []),
];

const order = { critical: 0, warning: 1, info: 2 } as const;

export function examine(host: HostFacts, context: CheckContext = {}): Examination {
  return sortVerdicts(checks.flatMap((check) => check(host, context)));
}

export function sortVerdicts(verdicts: readonly Verdict[]): Examination {
  const findings = verdicts.filter((one) => one.status === "bad");
  return {
    findings: findings.sort((a, b) => order[a.severity] - order[b.severity]),
    unjudged: verdicts.filter((one) => one.status === "unknown"),
    passed: verdicts.filter((one) => one.status === "good"),
  };
}
