/** Reads playbook files, and holds their names and values against the registry. */
import type { z } from "zod";
import { closest } from "../../spec/closest.ts";
import { digest } from "../../spec/digest.ts";
import { documentsOf, type LoadedDocument, loadFiles } from "../../spec/load.ts";
import type { PlaybookDocument } from "../../spec/playbook-schema.ts";
import { compareProblems, formatPath, type Path, type Position, type Problem } from "../../spec/problem.ts";
import type { Registry } from "./registry.ts";

/** A playbook whose every name is known. */
export interface Playbook extends Position {
  readonly name: string;
  readonly spec: PlaybookDocument["spec"];
  /** Changes with what the playbook says, not with how it is written. */
  readonly digest: string;
}

export interface LoadedPlaybooks {
  readonly playbooks: readonly Playbook[];
  readonly problems: readonly Problem[];
}

/** Reads files and folders. Never throws for what is in them. */
export async function loadPlaybooks<World>(
  paths: readonly string[],
  registry: Registry<World>,
): Promise<LoadedPlaybooks> {
  const loaded = await loadFiles(paths);
  const problems = [...loaded.problems];
  const playbooks: Playbook[] = [];
  for (const document of documentsOf(loaded.documents, "Playbook")) {
    const found = judge(document, registry);
    problems.push(...found);
    if (found.length > 0) continue;
    const { file, line, column, value } = document;
    playbooks.push({
      name: value.metadata.name,
      spec: value.spec,
      digest: digest(value),
      file,
      line,
      column,
    });
  }
  return {
    playbooks: playbooks.sort((a, b) => (a.name < b.name ? -1 : 1)),
    problems: problems.sort(compareProblems),
  };
}

type PlaybookFile = LoadedDocument<"Playbook"> & { readonly value: PlaybookDocument };

function judge<World>(document: PlaybookFile, registry: Registry<World>): Problem[] {
  const problems: Problem[] = [];
  for (const [i, step] of document.value.spec.steps.entries()) {
    const at = (...more: Path): Path => ["spec", "steps", i, ...more];
    const uses = [
      ...step.requires.map((one, n) => ({
        name: one.check,
        with: one.with,
        path: at("requires", n),
        key: "check",
      })),
      ...(step.guard
        ? [{ name: step.guard.check, with: step.guard.with, path: at("guard"), key: "check" }]
        : []),
      { name: step.action.do, with: step.action.with, path: at("action"), key: "do" },
      ...(step.verify
        ? [{ name: step.verify.check, with: step.verify.with, path: at("verify"), key: "check" }]
        : []),
      ...(step.undo ? [{ name: step.undo.do, with: step.undo.with, path: at("undo"), key: "do" }] : []),
    ];
    for (const use of uses) {
      const entries = use.key === "do" ? registry.actions : registry.checks;
      const entry = entries.get(use.name);
      if (entry) problems.push(...wrongValues(document, use.path, entry.args, use.with));
      else problems.push(unknownName(document, [...use.path, use.key], use.name, [...entries.keys()]));
    }
  }
  return problems;
}

function unknownName(document: PlaybookFile, path: Path, name: string, known: readonly string[]): Problem {
  const suggestion = closest(name, known);
  return {
    ...document.positionOf(path),
    path: formatPath(path),
    message: `is not ${path.at(-1) === "do" ? "an action" : "a check"} of this program`,
    value: JSON.stringify(name),
    choices: [...known].sort(),
    ...(suggestion !== undefined && { suggestion }),
  };
}

function wrongValues(document: PlaybookFile, path: Path, schema: z.ZodType, given: unknown): Problem[] {
  const result = schema.safeParse(given);
  if (result.success) return [];
  return result.error.issues.map((issue) => {
    const where = [...path, "with", ...(issue.path as Path)];
    return { ...document.positionOf(where), path: formatPath(where), message: wordsOf(issue) };
  });
}

function wordsOf(issue: z.core.$ZodIssue): string {
  if (issue.code === "unrecognized_keys") return `has values that nobody reads: ${issue.keys.join(", ")}`;
  return issue.message.toLowerCase().startsWith("invalid input: ")
    ? `must be something else: ${issue.message.slice("invalid input: ".length)}`
    : issue.message;
}
