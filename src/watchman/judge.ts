/** All rules on one picture. */
import { messageOf } from "../base/errors.ts";
import type { Finding, RuleName } from "./finding.ts";
import type { Picture } from "./picture.ts";
import { clockOffset, clockSource, clockStep, schedulerClocks } from "./rules/clocks.ts";
import { deadlineAtRisk } from "./rules/deadline-at-risk.ts";
import { definitionChanged, scheduleEdited, scheduleUnreadable } from "./rules/definitions.ts";
import { fastFinish, fewRows, longDuration } from "./rules/finishes.ts";
import { fireGap } from "./rules/fire-gap.ts";
import { lateStart } from "./rules/late-start.ts";
import { missingSuccess } from "./rules/missing-success.ts";
import { noLeader } from "./rules/no-leader.ts";
import { notOpened } from "./rules/not-opened.ts";
import { executorSilent, noExecutor, schedulerSilent, timeZoneMismatch } from "./rules/processes.ts";
import { retryExhausted } from "./rules/retry-exhausted.ts";
import type { Rule } from "./rules/rule.ts";
import { replicaBehind, storeDisk, storeFull, xminHeld } from "./rules/store-health.ts";
import { reclaimLoop, stuckRunning } from "./rules/stuck-running.ts";
import { timeSource } from "./rules/time-source.ts";
import { backlogGrowing, recordsNotGrowing } from "./rules/trends.ts";
import { noVirtualAddressHolder, twoVirtualAddressHolders } from "./rules/virtual-address.ts";
import type { WatchSettings } from "./settings.ts";

const rules: readonly Rule[] = [
  noLeader,
  twoVirtualAddressHolders,
  missingSuccess,
  notOpened,
  fireGap,
  deadlineAtRisk,
  retryExhausted,
  stuckRunning,
  reclaimLoop,
  lateStart,
  noExecutor,
  executorSilent,
  schedulerSilent,
  noVirtualAddressHolder,
  timeZoneMismatch,
  clockOffset,
  schedulerClocks,
  clockStep,
  clockSource,
  timeSource,
  definitionChanged,
  scheduleUnreadable,
  scheduleEdited,
  fastFinish,
  fewRows,
  longDuration,
  backlogGrowing,
  recordsNotGrowing,
  replicaBehind,
  xminHeld,
  storeFull,
  storeDisk,
];

/** Everything that is wrong in the picture, the most urgent rules first. */
export function judge(picture: Picture, settings: WatchSettings): Finding[] {
  return rules.flatMap((rule) => {
    try {
      return rule(picture, settings).map(asSentence);
    } catch (error) {
      return [ruleFailed(rule.name, error)];
    }
  });
}

function asSentence(finding: Finding): Finding {
  return /[.!?]$/.test(finding.message) ? finding : { ...finding, message: `${finding.message}.` };
}

/** One rule that cannot judge must not blind the others, and must not pass for content. */
function ruleFailed(name: string, error: unknown): Finding {
  return {
    rule: "rule-failed",
    key: `rule-failed:${name}`,
    severity: "critical",
    message: `the watchman cannot judge ${name}: ${messageOf(error)}`,
    evidence: { rule: name },
    hint: "escapement watchman --once --cluster cluster.yaml",
  };
}

/** The finding of a store that does not answer: all that can be said without it. */
export function storeUnreachable(reason: string, awayMs: number, node: string): Finding {
  const rule: RuleName = "store-unreachable";
  return {
    rule,
    key: rule,
    severity: "critical",
    message: `the record store has not answered the watchman on ${node} for ${Math.round(awayMs / 1000)} s: ${reason}`,
    evidence: { reason, awayMs, node },
    cause: "store",
    hint: "escapement store status",
  };
}
