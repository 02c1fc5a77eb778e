/** Findings for people: a sign as well as a colour, so that neither is needed. */
import type { Examination } from "../../hardware/findings/examine.ts";
import type { Finding, Severity } from "../../hardware/findings/verdict.ts";
import { paint, print } from "../terminal.ts";

const signs: Readonly<Record<Severity, string>> = { critical: "✗", warning: "!", info: "i" };

export function printFindings({ findings, unjudged, passed }: Examination): void {
  for (const finding of findings) printFinding(finding);
  const byReason = new Map<string, string[]>();
  for (const one of unjudged) {
    const name = one.subject === undefined ? one.id : `${one.id} (${one.subject})`;
    byReason.set(one.reason, [...(byReason.get(one.reason) ?? []), name]);
  }
  for (const [reason, names] of byReason)
    print(plain(`  ? not judged: ${[...new Set(names)].join(", ")}: ${reason}`, paint.dim));
  if (findings.length === 0 && passed.length > 0)
    print(paint.green(`  ✓ ${passed.length} check(s) passed, no finding`));
}

function printFinding(finding: Finding): void {
  const colour =
    finding.severity === "critical" ? paint.red : finding.severity === "warning" ? paint.yellow : paint.cyan;
  const subject = finding.subject === undefined ? "" : ` ${finding.subject}`;
  print(
    plain(
      `  ${signs[finding.severity]} ${finding.severity} ${finding.id}${subject}: ${finding.reason}`,
      colour,
    ),
  );
  print(plain(`      seen: ${finding.evidence}`, paint.dim));
  print(plain(`      do:   ${finding.action}`));
}

/** Text of a host or a file never reaches the terminal with control characters in it. */
export function plain(text: string, colour: (text: string) => string = (same) => same): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what is taken out
  return colour(text.replace(/[\u0000-\u001f\u007f-\u009f]/g, "?"));
}
