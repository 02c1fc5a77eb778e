/** Item 1: the same fire cannot be recorded twice. */
import {
  type IndexRow,
  readKeyIndexes,
  tryDuplicates,
  uniqueKeys,
} from "../../store/checklist/unique-keys.ts";
import type { CheckContext } from "../context.ts";
import type { ChecklistItem, Result } from "../item.ts";
import { inParts, openStore } from "./parts.ts";
import { clusterScope, queryEvidence, result, trialEvidence } from "./verdicts.ts";

const todo = "escapement store status shows what differs; restore the constraint before anything else fires";

export const uniqueConstraint: ChecklistItem<CheckContext> = {
  number: 1,
  id: "unique-constraint",
  question: "Does the database refuse a second record of the same job, fire time and shard?",
  why: "Every other lock is advice. Only a unique constraint holds when two processes are both sure that they are the right one.",
  how: "Every index of the record tables, their partitions and the live tables is read from the catalog: unique, valid, ready, whole, on exactly the columns. Then the same row is written twice into each of them in a statement that is rolled back.",
  check: (context) =>
    inParts(context, {
      "the constraints": () => constraints(context),
      "what happens to a duplicate": () => duplicates(context),
    }),
};

async function constraints(context: CheckContext): Promise<Result[]> {
  const looked = await readKeyIndexes(openStore(context));
  const evidence = [queryEvidence(context, looked)];
  const relations = new Map<string, IndexRow[]>();
  for (const row of looked.rows) relations.set(row.relation, [...(relations.get(row.relation) ?? []), row]);
  const problems = [...relations].flatMap(([relation, rows]) => problemOf(relation, rows));
  for (const table of Object.keys(uniqueKeys))
    if (!relations.has(table)) problems.push(`there is no table ${table}`);
  for (const table of ["execution", "shard"])
    if (looked.rows.every((row) => row.table !== table || row.relation === table))
      problems.push(`${table} has no partition`);
  const scope = clusterScope(context);
  if (problems.length > 0) return [result(scope, "fail", problems.join("; "), evidence, { todo })];
  return [result(scope, "pass", `${relations.size} tables have their unique constraint`, evidence)];
}

function problemOf(relation: string, rows: readonly IndexRow[]): string[] {
  const wanted = uniqueKeys[rows[0]!.table]!;
  const sameColumns = rows.filter(
    ({ columns }) => columns.length === wanted.length && wanted.every((column) => columns.includes(column)),
  );
  if (sameColumns.some((row) => faultsOf(row).length === 0)) return [];
  const near = sameColumns[0];
  const key = `(${wanted.join(", ")})`;
  if (near) return [`${relation}: index ${near.index} on ${key} is ${faultsOf(near).join(", ")}`];
  const other = rows.find((row) => row.unique);
  const instead = other ? `; ${other.index} is on (${other.columns.join(", ")})` : "";
  return [`${relation} has no unique index on ${key}${instead}`];
}

function faultsOf(row: IndexRow): string[] {
  const faults: [boolean, string][] = [
    [row.unique !== true, "not unique"],
    [row.valid !== true, "not valid"],
    [row.ready !== true, "not ready"],
    [row.live !== true, "being dropped"],
    [row.immediate !== true, "deferrable"],
    [row.partial !== false, "partial"],
    [row.notNull !== true, "on a column that may be null"],
  ];
  return faults.flatMap(([is, word]) => (is ? [word] : []));
}

async function duplicates(context: CheckContext): Promise<Result[]> {
  const trial = await tryDuplicates(openStore(context));
  const { accepted, refused } = trial.found;
  const evidence = [trialEvidence(context, trial)];
  const scope = clusterScope(context);
  if (accepted.length > 0)
    return [result(scope, "fail", `a duplicate was accepted by ${accepted.join(", ")}`, evidence, { todo })];
  if (refused.length === 0) return [result(scope, "unknown", "no table could be tried", evidence, { todo })];
  return [result(scope, "pass", `a duplicate was refused by all ${refused.length} tables`, evidence)];
}
