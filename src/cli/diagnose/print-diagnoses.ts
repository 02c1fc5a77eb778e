/** Diagnoses for people: a line each, the explanation under it, the next command last. */
import { formatInstant } from "../../base/instant.ts";
import type { Diagnosis, FailureClass } from "../../watchman/diagnose/diagnosis.ts";
import { argument } from "../../watchman/rules/rule.ts";
import { paint, print } from "../terminal.ts";

const colour: Record<FailureClass, (text: string) => string> = {
  "never-fired": paint.red,
  duplicate: paint.red,
  partial: paint.red,
  interrupted: paint.yellow,
  "shard-failed": paint.red,
  blocked: paint.yellow,
  late: paint.yellow,
};

export function printDiagnoses(diagnoses: readonly Diagnosis[], evidence: boolean): void {
  for (const one of diagnoses) {
    const also = one.also.length > 0 ? ` (also ${one.also.join(", ")})` : "";
    const cause = `${one.certain ? "" : "likely "}${one.cause}${one.intended ? ", intended" : ""}`;
    print(
      `${paint.bold(argument(one.job))}  ${formatInstant(one.fireTime)}  ${colour[one.class](one.class)}${also}  ${cause}`,
    );
    print(`  ${one.text}`);
    if (evidence) for (const { from, row } of one.evidence) print(`  ${paint.dim(`${from}: ${cells(row)}`)}`);
    print(`  next: ${one.next}`);
  }
}

function cells(row: Readonly<Record<string, unknown>>): string {
  return Object.entries(row)
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([name, value]) => `${name}=${value instanceof Date ? formatInstant(value) : String(value)}`)
    .join(" ");
}
