/** Shows changes the way a reviewer reads them: a sign a line, fields below, counts last. */
import { paint, print } from "../terminal.ts";
import type { JobChange } from "./changes.ts";

const sign: Record<JobChange["action"], string> = {
  create: paint.green("+"),
  revive: paint.green("+"),
  change: paint.yellow("~"),
  delete: paint.red("-"),
  refuse: paint.red("!"),
  none: " ",
};

export function printChanges(changes: readonly JobChange[]): void {
  for (const change of changes) {
    if (change.action === "none") continue;
    print(`${sign[change.action]} ${change.job}  ${change.action}`);
    for (const { field, before, after } of change.fields)
      print(`    ${field}: ${before ?? "(none)"} → ${after ?? "(none)"}`);
    if (change.reason) print(`    refused: ${change.reason}`);
    if (change.hint) print(`    hint: ${change.hint}`);
  }
  print(countLine(changes));
}

/** `2 to create, 1 to change, 5 unchanged`. */
export function countLine(changes: readonly JobChange[]): string {
  const words: [JobChange["action"], string][] = [
    ["create", "to create"],
    ["revive", "to bring back"],
    ["change", "to change"],
    ["delete", "to delete"],
    ["refuse", "refused"],
    ["none", "unchanged"],
  ];
  const parts = words.flatMap(([action, word]) => {
    const count = changes.filter((change) => change.action === action).length;
    return count > 0 || action === "none" ? [`${count} ${word}`] : [];
  });
  return parts.join(", ");
}

/** For `--json`: without the definitions. */
export function changesAsJson(changes: readonly JobChange[]): Record<string, unknown>[] {
  return changes.map(({ job, action, fields, reason, hint }) => ({ job, action, fields, reason, hint }));
}
