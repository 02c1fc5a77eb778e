/**
 * An item that looks at several things: a part that cannot look makes its own
 * answer unknown and leaves the others. What was found of one scope becomes one
 * result; a fail outranks an unknown, an unknown a pass.
 */
import { messageOf } from "../../base/errors.ts";
import type { Queryable } from "../../store/database.ts";
import type { CheckContext } from "../context.ts";
import type { Result, Scope, Verdict } from "../item.ts";
import { clusterScope, result } from "./verdicts.ts";

export type Part = () => Promise<readonly Result[]>;

const rank: Readonly<Record<Verdict, number>> = { "not-applicable": 0, pass: 1, unknown: 2, fail: 3 };

/** @param scope whom a part that fails to look says nothing about */
export async function inParts(
  context: CheckContext,
  parts: Readonly<Record<string, Part>>,
  scope: Scope = clusterScope(context),
): Promise<readonly Result[]> {
  const results: Result[] = [];
  for (const [what, part] of Object.entries(parts)) {
    try {
      results.push(...(await part()).map(shown));
    } catch (error) {
      if (context.signal.aborted) throw error;
      results.push(
        result(scope, "unknown", `could not look at ${what}: ${messageOf(error)}`, [], {
          todo: "make it possible to look, then run the checklist again",
        }),
      );
    }
  }
  return merged(results);
}

/** Beside other parts nobody would notice that this one has looked at nothing. */
function shown(one: Result): Result {
  if (one.verdict !== "pass" || one.evidence.length > 0) return one;
  return { ...one, verdict: "unknown", message: `shows no evidence that ${one.message}` };
}

/** The open store. @throws when it is not, so that the part is unknown */
export function openStore(context: CheckContext): Queryable {
  if (context.store.state === "open") return context.store.db;
  throw new Error(`the record store cannot be reached: ${context.store.reason}`);
}

/** The database's clock. @throws when nobody can ask it */
export function databaseNow(context: CheckContext): Promise<Date> {
  if (context.store.state === "open") return context.store.now();
  throw new Error(`the record store cannot be reached: ${context.store.reason}`);
}

/** One result a scope, in the order the scopes came. */
export function merged(results: readonly Result[]): readonly Result[] {
  const scopes = new Map<string, Result[]>();
  for (const one of results) {
    const key = `${one.scope.kind}\n${one.scope.name}`;
    scopes.set(key, [...(scopes.get(key) ?? []), one]);
  }
  return [...scopes.values()].map((list) => (list.length === 1 ? list[0]! : merge(list)));
}

function merge(list: readonly Result[]): Result {
  const worst = Math.max(...list.map((one) => rank[one.verdict]));
  const speaking = list.filter((one) => (worst > 1 ? rank[one.verdict] > 1 : rank[one.verdict] === worst));
  const first = speaking.find((one) => rank[one.verdict] === worst)!;
  const ordered = [...speaking].sort((a, b) => rank[b.verdict] - rank[a.verdict]);
  const todo = [...new Set(ordered.flatMap((one) => one.todo ?? []))].join("; ");
  const location = list.find((one) => one.location)?.location;
  return {
    scope: first.scope,
    verdict: first.verdict,
    message: [...new Set(ordered.map((one) => one.message))].join("; "),
    evidence: list.flatMap((one) => one.evidence),
    ...(todo !== "" && { todo }),
    ...(location && { location }),
  };
}
