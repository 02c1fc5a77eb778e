/** One trip to a host: a bundle there, its facts back. */
import { EscapementError } from "../../base/errors.ts";
import type { Remote } from "../../remote/remote.ts";
import { parseAnswer } from "./frame.ts";
import type { Bundle } from "./read-bundle.ts";

/**
 * @returns the facts, in the order in which the host said them
 * @throws E_HOST_LOST where the answer did not arrive whole, and what Remote throws
 */
export async function runBundle(
  remote: Remote,
  { script, nonce }: Bundle,
  { what, deadlineMs }: { readonly what: string; readonly deadlineMs: number },
): Promise<readonly string[]> {
  const result = await remote.exec({ argv: ["sh", "-s"], stdin: script, asRoot: true, deadlineMs });
  const answer = parseAnswer(result.stdout, nonce);
  if ("facts" in answer) return answer.facts;
  const said = result.stderr.trim().split("\n").at(-1);
  const reason = said ? `${answer.lost} (${said.slice(0, 200)})` : answer.lost;
  throw new EscapementError("E_HOST_LOST", { host: remote.host, what, reason });
}

/** The result a writing bundle ends with, and what it said before. */
export interface BundleResult {
  readonly result: string;
  readonly reason: string;
  /** The values of every line of a kind: `of("moved")`. */
  of(kind: string): readonly (readonly string[])[];
}

export function resultOf(facts: readonly string[]): BundleResult {
  const rows = facts.map((fact) => fact.split("\t"));
  const last = rows.at(-1);
  const [result = "", reason = ""] =
    last?.[0] === "result" ? last.slice(1) : ["broken", "the host gave no result"];
  return {
    result,
    reason: reason.trim(),
    of: (kind) => rows.filter(([first]) => first === kind).map(([, ...values]) => values),
  };
}
