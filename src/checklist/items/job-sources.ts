/** Which files of the repository the code of a job is in. */
import { readFile } from "node:fs/promises";
import { isAbsolute, join, normalize } from "node:path";
import type { ResolvedJob } from "../../spec/definitions.ts";

/** A word of a job's command that may hold its code or name it. */
export interface CodeWord {
  readonly word: string;
  /** It is code itself. */
  readonly isInline: boolean;
  /** From the root; the first that is there is the one. */
  readonly paths: readonly string[];
}

/** Programs that change nothing of anybody's. */
const harmless = /^(?:.*\/)?(?:true|echo|sleep|date|test)$/;

/** The path from the root, without detours; null where it leads out of it, or is the root. */
export function belowRoot(path: string): string | null {
  const below = normalize(path);
  return isAbsolute(below) || below === "." || below.split("/")[0] === ".." ? null : below;
}

/** Null where the file is not below the root or cannot be read. */
export async function readSource(root: string, path: string): Promise<string | null> {
  const below = belowRoot(path);
  return below === null ? null : readFile(join(root, below), "utf8").catch(() => null);
}

/** What the effects of a job name. */
export function sourcePaths(job: ResolvedJob): readonly string[] {
  return [...new Set(job.definition.effects.flatMap((effect) => effect.sources))].sort();
}

/** What is known to change nothing has no code to look at. */
export function isHarmless({ definition: { command } }: ResolvedJob): boolean {
  return harmless.test(command[0]!);
}

/** Of a job that declares no effect, the words that are looked at; of any other none. */
export function codeWords(job: ResolvedJob): readonly CodeWord[] {
  const { command, effects, workingDirectory } = job.definition;
  if (effects.length > 0 || isHarmless(job)) return [];
  return command.map((word) => {
    const isInline = /\s/.test(word);
    const names = isInline || word.startsWith("-") ? [] : [word, join(workingDirectory ?? "", word)];
    return { word, isInline, paths: names.map(belowRoot).filter((path) => path !== null) };
  });
}
