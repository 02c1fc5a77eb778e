/**
 * The answer of a bundle: NDJSON between two marks that carry a nonce. Banners
 * and profile noise around it do not matter; an answer without its trailer,
 * with a wrong count or sum, is no answer.
 */
import { createHash } from "node:crypto";

/** Grows with every change of the marks or of the facts between them. */
export const protocolVersion = 1;

export type Answer = { readonly facts: readonly string[] } | { readonly lost: string };

/** @param output the command's whole standard output. @param nonce as sent with the bundle */
export function parseAnswer(output: string, nonce: string): Answer {
  const lines = output.split("\n");
  const begin = lines.findIndex((line) => line.startsWith(`${nonce} begin `));
  if (begin < 0) return { lost: "the host did not answer in our protocol" };
  const version = lines[begin]!.slice(`${nonce} begin `.length);
  if (version !== String(protocolVersion))
    return {
      lost: `the host answers in version ${version} of the protocol, this program in ${protocolVersion}`,
    };
  const length = lines.slice(begin + 1).findIndex((line) => line.startsWith(`${nonce} end `));
  if (length < 0) return { lost: "the answer has no end: the connection broke, or the host died" };
  const body = lines.slice(begin + 1, begin + 1 + length);
  const [count, sum] = lines[begin + 1 + length]!.slice(`${nonce} end `.length).split(" ");
  const counted = createHash("sha256")
    .update(`${body.join("\n")}\n`)
    .digest("hex");
  if (count !== String(body.length)) return { lost: `${count} records were sent, ${body.length} arrived` };
  if (sum !== counted) return { lost: "the answer changed on its way: its sum is wrong" };
  const facts: string[] = [];
  for (const line of body) {
    const fact = factOf(line);
    if (fact === undefined) return { lost: `not a record: ${line.slice(0, 80)}` };
    facts.push(fact);
  }
  return { facts };
}

function factOf(line: string): string | undefined {
  try {
    const record: unknown = JSON.parse(line);
    const fact = typeof record === "object" && record !== null && "fact" in record ? record.fact : undefined;
    return typeof fact === "string" ? fact : undefined;
  } catch {
    return undefined;
  }
}
