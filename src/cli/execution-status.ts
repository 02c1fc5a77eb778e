/** Status words as people type them. */
import { EscapementError } from "../base/errors.ts";
import { closest } from "../spec/closest.ts";
import type { ExecutionStatus } from "../store/execution.ts";

const statuses: readonly ExecutionStatus[] = [
  "planned",
  "pending",
  "running",
  "success",
  "failed",
  "interrupted",
  "missed",
  "blocked",
  "cancelled",
];

/** @throws E_BAD_VALUE with the choices */
export function requireStatuses(words: readonly string[]): ExecutionStatus[] {
  return words.map((word) => {
    const found = statuses.find((status) => status === word);
    if (found) return found;
    const near = closest(word, statuses);
    throw new EscapementError("E_BAD_VALUE", {
      option: "--status",
      value: word,
      expected: "a status",
      hint: `choices: ${statuses.join(", ")}${near ? `; did you mean ${near}?` : ""}`,
    });
  });
}
