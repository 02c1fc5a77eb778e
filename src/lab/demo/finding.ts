/** What a judge has found, and what it means for the verdict. */

/**
 * lost: due, and did not happen. doubled: happened twice. wrong: happened once, with another result than due.
 * unexpected: happened, and was not due.
 * order: caught up in another order than oldest first. policy: decided otherwise than the job's policy says.
 * unsettled: not finished when we stopped waiting. unproven: the demo did not get to show something.
 * remark: allowed, and worth knowing.
 */
export type FindingKind =
  | "lost"
  | "doubled"
  | "wrong"
  | "unexpected"
  | "order"
  | "policy"
  | "unsettled"
  | "unproven"
  | "remark";

export interface Finding {
  readonly kind: FindingKind;
  readonly what: string;
}

export type Verdict = "pass" | "fail" | "unknown";

const meaning: Readonly<Record<FindingKind, Verdict>> = {
  lost: "fail",
  doubled: "fail",
  wrong: "fail",
  unexpected: "fail",
  order: "fail",
  policy: "fail",
  unsettled: "unknown",
  unproven: "unknown",
  remark: "pass",
};

/** The worst of them: what is wrong for certain outweighs what could not be seen. */
export function verdictOf(findings: readonly Finding[]): Verdict {
  const verdicts = findings.map((finding) => meaning[finding.kind]);
  return verdicts.includes("fail") ? "fail" : verdicts.includes("unknown") ? "unknown" : "pass";
}
